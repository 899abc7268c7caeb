// Package signin signs tis in to remote MCP servers, as the protocol's
// authorization chapter says: a server answers 401, its metadata names an
// authorization server (RFC 9728), whose own metadata (RFC 8414) says where a
// person agrees and where tokens come from. The client is registered there
// (RFC 7591) unless the config names one, and the code flow runs with PKCE, a
// state, and the server as the token's resource (RFC 8707).
//
// What comes of it is a record: one file for each server URL, readable by its
// owner alone. A token goes to the URL that it was made for and to nothing
// else. No error of this package holds a token, a code or a client's secret.
//
// Everything that a server or an authorization server says is taken as
// hostile: documents are bounded in size and time, nothing is followed to
// another host, and a public server cannot point tis at this machine.
//
// The package knows nothing of MCP's messages. Start reading at Login.
package signin
