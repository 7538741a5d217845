package mcpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
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
