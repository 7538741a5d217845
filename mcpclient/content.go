package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// block is one content block of a result in the wire format.
type block struct {
	Type        string         `json:"type"`
	Text        *string        `json:"text"`
	Data        string         `json:"data"` // base64
	MIMEType    string         `json:"mimeType"`
	URI         string         `json:"uri"`
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Size        *json.Number   `json:"size"` // bytes
	Resource    *resourceBlock `json:"resource"`
}

// resourceBlock is the content of an embedded resource.
type resourceBlock struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"` // base64
}

// readableResult rewrites the raw result of a call so that all its content is
// text. The library's types reject a whole result with one unknown kind of
// content, or with structured content only. Results that ask for more input
// and malformed results are returned unchanged.
func readableResult(raw json.RawMessage) json.RawMessage {
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil || result == nil {
		return raw
	}
	var kind mcp.ResultType
	if json.Unmarshal(result["resultType"], &kind) == nil && kind == mcp.ResultTypeInputRequired {
		return raw
	}
	blocks := []json.RawMessage{}
	if content := bytes.TrimSpace(result["content"]); len(content) > 0 && json.Unmarshal(content, &blocks) != nil {
		blocks = []json.RawMessage{content} // a single block outside a list
	}
	texts := make([]mcp.TextContent, len(blocks))
	for i, b := range blocks {
		texts[i] = mcp.NewTextContent(readable(b))
	}
	content, err := json.Marshal(texts)
	if err != nil {
		return raw
	}
	result["content"] = content
	if rewritten, err := json.Marshal(result); err == nil {
		return rewritten
	}
	return raw
}

// readable returns the text of a content block, or a description in brackets.
// Binary data appears only as its size.
func readable(raw json.RawMessage) string {
	var b block
	if err := json.Unmarshal(raw, &b); err != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		return fmt.Sprintf("[content that cannot be read: %d bytes]", len(raw))
	}
	switch {
	case b.Type == "resource_link" || b.Type == "" && b.URI != "" && b.Text == nil:
		return b.link()
	case b.Resource != nil && b.Resource.Text != nil:
		return *b.Resource.Text
	case b.Resource != nil:
		return described("resource "+b.Resource.URI, b.Resource.MIMEType, decodedBytes(b.Resource.Blob))
	case b.Text != nil:
		return *b.Text
	case b.Type == "":
		return fmt.Sprintf("[content of no type: %d bytes]", len(raw))
	default:
		return described(b.Type, b.MIMEType, decodedBytes(b.Data))
	}
}

// link formats a resource link as one line.
func (b block) link() string {
	size := ""
	if b.Size != nil {
		size = b.Size.String() + " bytes"
	}
	name := b.Name
	if b.Title != "" {
		name = b.Title
	}
	line := described("resource link "+b.URI, name, b.MIMEType, size)
	if b.Description != "" {
		line += " " + b.Description
	}
	return line
}

// described returns a line in brackets: the kind of content and the known
// facts.
func described(what string, facts ...string) string {
	var known []string
	for _, fact := range facts {
		if fact != "" {
			known = append(known, fact)
		}
	}
	if len(known) == 0 {
		return "[" + what + "]"
	}
	return "[" + what + ": " + strings.Join(known, ", ") + "]"
}

// decodedBytes returns the decoded size of base64 text, or "" if it is empty.
func decodedBytes(base64 string) string {
	if base64 == "" {
		return ""
	}
	return fmt.Sprintf("%d bytes", len(strings.TrimRight(base64, "="))*3/4)
}
