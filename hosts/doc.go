// Package hosts moves MCP servers from the configurations of other MCP hosts
// behind tis: it finds their files, works out what would change, changes them,
// and can take all of it back.
//
// A file is never parsed and printed again. Its text is edited where a server
// stood, so that other keys, their order, comments and layout stay, and the
// result is read once more and compared before it is written. A server is moved
// only when everything that its entry says means the same behind tis; one that
// limits its tools, say, stays where it is.
//
// Values of entries, which hold secrets, go from file to file and into no
// message. Start reading at Prepare.
package hosts
