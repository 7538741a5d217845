package mcpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/planning/plan"
)

func TestResourcesAreListedAndRead(t *testing.T) {
	docs := server.NewMCPServer("docs", "1", server.WithResourceCapabilities(false, false))
	add := func(uri string, content mcp.ResourceContents, err error) {
		docs.AddResource(mcp.NewResource(uri, "the "+uri), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{content}, err
		})
	}
	add("doc://guide", mcp.TextResourceContents{URI: "doc://guide", Text: "read me"}, nil)
	add("doc://long", mcp.TextResourceContents{URI: "doc://long", Text: strings.Repeat("é", 40<<10)}, nil)
	add("doc://picture", mcp.BlobResourceContents{URI: "doc://picture", Blob: "AAAA"}, nil)
	add("doc://broken", nil, errors.New("out of paper"))
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"docs": docs, "tools": server.NewMCPServer("tools", "1")})})
	p.Ready(t.Context())
	list, err := p.Resources(t.Context())
	if err != nil || len(list) != 4 || list[1].Server != "docs" || list[1].URI != "doc://guide" || list[1].Name != "the doc://guide" {
		t.Errorf("%+v, %v", list, err)
	}
	if m, ok, err := p.ReadResource(t.Context(), "docs", "doc://guide"); !ok || err != nil || m.Text != "read me" || m.Server != "docs" || m.Name != "docs:doc://guide" || m.Cut {
		t.Errorf("%+v, %v, %v", m, ok, err)
	}
	if m, _, err := p.ReadResource(t.Context(), "docs", "doc://long"); err != nil || !m.Cut || m.Bytes != 80<<10 || len(m.Text) != 64<<10 {
		t.Errorf("%d of %d bytes, %v", len(m.Text), m.Bytes, err)
	}
	for uri, want := range map[string]string{"doc://picture": "it is not text", "doc://broken": "out of paper"} {
		if _, ok, err := p.ReadResource(t.Context(), "docs", uri); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", uri, ok, err)
		}
	}
	if _, ok, err := p.ReadResource(t.Context(), "tools", "doc://guide"); ok || err != nil {
		t.Errorf("server without resources: got %v, %v", ok, err)
	}
}

func TestModelReadsResources(t *testing.T) {
	docs := server.NewMCPServer("docs", "1", server.WithResourceCapabilities(false, false))
	add := func(uri string, content mcp.ResourceContents) {
		docs.AddResource(mcp.NewResource(uri, uri), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{content}, nil
		})
	}
	add("doc://guide", mcp.TextResourceContents{URI: "doc://guide", Text: "read me"})
	add("doc://picture", mcp.BlobResourceContents{URI: "doc://picture", MIMEType: "image/png", Blob: "AAAA"})
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"docs": docs, "tools": server.NewMCPServer("tools", "1")})})
	it := tool(t, p, "mcp:resources.read")
	if it.Trusted || !it.ReadOnly || !strings.Contains(string(it.InputSchema), `"enum":["docs"]`) {
		t.Errorf("got %+v", it)
	}
	read := func(server, uri string) (any, error) {
		return p.Call(t.Context(), plan.ToolCall{Tool: it, Args: map[string]any{"server": server, "uri": uri}, Keep: func(content []byte, mediaType string) (plan.Attachment, error) {
			return plan.Attachment{File: "/kept", Type: mediaType, Bytes: len(content), SHA256: "00"}, nil
		}})
	}
	if got, err := read("docs", "doc://guide"); err != nil || got != "read me" {
		t.Errorf("text: got %v, %v", got, err)
	}
	if got, err := read("docs", "doc://picture"); err != nil || !strings.Contains(plan.CanonicalJSON(got), `"file":"/kept"`) || !strings.Contains(plan.CanonicalJSON(got), "[resource doc://picture: image/png, 3 bytes]") {
		t.Errorf("picture: got %v, %v", got, err)
	}
	for _, missing := range [][2]string{{"docs", "doc://nothing"}, {"tools", "doc://guide"}, {"nobody", "x"}} {
		if _, err := read(missing[0], missing[1]); !isToolError(err) {
			t.Errorf("%v: got %v", missing, err)
		}
	}
	without := inProcess(t, nil)
	if _, err := without.Ready(t.Context()).Find("resources.read"); err == nil {
		t.Error("offered without resources")
	}
}
