package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	none      struct{}
	stateArgs struct {
		State string `json:"state,omitempty"`
	}
	numberArgs struct {
		Number int `json:"number" jsonschema:"the issue's number"`
	}
	labelArgs struct {
		Number int    `json:"number"`
		Label  string `json:"label"`
	}
	commentArgs struct {
		Number int    `json:"number" jsonschema:"the issue's number"`
		Body   string `json:"body" jsonschema:"the comment's text"`
	}
	createArgs struct {
		Title string `json:"title" jsonschema:"one line that says what is wrong or wanted"`
		Body  string `json:"body,omitempty" jsonschema:"details"`
	}
	branchArgs struct {
		Branch string `json:"branch" jsonschema:"the branch's name"`
	}
	daysArgs struct {
		Days int `json:"days,omitempty"`
	}

	issueList struct {
		Issues []issue `json:"issues"`
	}
	commentList struct {
		Comments []comment `json:"comments"`
	}
	branchList struct {
		Branches []branch `json:"branches"`
	}
	deleted struct {
		Deleted string `json:"deleted"`
	}
)

// Schemas that say more than the Go types can.
const (
	stateSchema = `{"type":"object","additionalProperties":false,"properties":{"state":{"type":"string","enum":["open","closed","all"],"default":"open"}}}`
	labelSchema = `{"type":"object","additionalProperties":false,"required":["number","label"],"properties":{
		"number":{"type":"integer","description":"the issue's number"},"label":{"type":"string","enum":["bug","chore","docs","feature","stale"]}}}`
	daysSchema = `{"type":"object","additionalProperties":false,"properties":{"days":{"type":"integer","minimum":7,"maximum":365,"default":90,"description":"how far back"}}}`
)

// The annotations are what a gate goes by, so each tool says all that is true
// of it. None reaches anything but the tracker's own database.

func reads() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
}

func changes(again bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: again, OpenWorldHint: new(false)}
}

func destroys() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)}
}

// newServer is the tracker's tools over a store.
func newServer(s *store) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Title: "Issue tracker", Version: "1.0.0"}, nil)

	add(server, "list_issues", "List issues by number. Lists the open ones unless state says otherwise.", stateSchema, reads(),
		func(ctx context.Context, in stateArgs) (issueList, error) {
			list, err := s.issues(ctx, in.State)
			return issueList{list}, err
		})
	add(server, "get_issue", "Get one issue.", "", reads(),
		func(ctx context.Context, in numberArgs) (issue, error) { return s.issue(ctx, in.Number) })
	add(server, "list_comments", "List the comments of an issue, oldest first.", "", reads(),
		func(ctx context.Context, in numberArgs) (commentList, error) {
			list, err := s.comments(ctx, in.Number)
			return commentList{list}, err
		})
	add(server, "list_branches", "List the branches, and whether they are merged.", "", reads(),
		func(ctx context.Context, _ none) (branchList, error) {
			list, err := s.branches(ctx)
			return branchList{list}, err
		})

	add(server, "add_label", "Add a label to an issue. Adding it twice changes nothing.", labelSchema, changes(true),
		func(ctx context.Context, in labelArgs) (issue, error) { return s.addLabel(ctx, in.Number, in.Label) })
	add(server, "create_comment", "Comment on an issue.", "", changes(false),
		func(ctx context.Context, in commentArgs) (comment, error) {
			return s.createComment(ctx, in.Number, in.Body)
		})
	add(server, "create_issue", "Open an issue.", "", changes(false),
		func(ctx context.Context, in createArgs) (issue, error) { return s.createIssue(ctx, in.Title, in.Body) })
	add(server, "close_issue", "Close an issue. It stays readable.", "", changes(true),
		func(ctx context.Context, in numberArgs) (issue, error) { return s.closeIssue(ctx, in.Number) })

	add(server, "delete_branch", "Delete a branch, merged or not. It cannot be brought back.", "", destroys(),
		func(ctx context.Context, in branchArgs) (deleted, error) {
			return deleted{in.Branch}, s.deleteBranch(ctx, in.Branch)
		})

	mcp.AddTool(server, &mcp.Tool{Name: "burndown", Description: "Draw how many issues were open on each of the last days, as a PNG.",
		InputSchema: json.RawMessage(daysSchema), Annotations: reads()},
		func(ctx context.Context, _ *mcp.CallToolRequest, in daysArgs) (*mcp.CallToolResult, any, error) {
			counts, err := s.openPerDay(ctx, in.Days)
			if err != nil {
				return nil, nil, err
			}
			picture, err := drawBurndown(counts)
			if err != nil {
				return nil, nil, err
			}
			says := fmt.Sprintf("%d issues are open; %d days ago it was %d.", counts[len(counts)-1], in.Days-1, counts[0])
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: says}, &mcp.ImageContent{Data: picture, MIMEType: "image/png"},
			}}, nil, nil
		})
	return server
}

// add registers a tool whose result is structured. Without a schema the input's
// is taken from its type.
func add[In, Out any](server *mcp.Server, name, description, schema string, a *mcp.ToolAnnotations, f func(context.Context, In) (Out, error)) {
	tool := &mcp.Tool{Name: name, Description: description, Annotations: a}
	if schema != "" {
		tool.InputSchema = json.RawMessage(schema)
	}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := f(ctx, in)
		return nil, out, err
	})
}
