package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/planning/plan"
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

// Readable rewrites the raw result of a call so that its content is text
// and embedded blobs alone, each blob with a description of its block as its URI.
// The library's types reject a whole result with one unknown kind of content, or
// with structured content only. Results that ask for more input and malformed
// results are returned unchanged.
func Readable(raw json.RawMessage) json.RawMessage {
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
	known := []mcp.Content{}
	for _, b := range blocks {
		known = append(known, contentOf(b)...)
	}
	content, err := json.Marshal(known)
	if err != nil {
		return raw
	}
	result["content"] = content
	if rewritten, err := json.Marshal(result); err == nil {
		return rewritten
	}
	return raw
}

// contentOf returns a content block as texts and embedded blobs. What it does not
// understand of a block it returns as JSON.
func contentOf(raw json.RawMessage) []mcp.Content {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		return texts(text)
	}
	if fields == nil {
		return nil // null
	}
	var b block
	if json.Unmarshal(raw, &b) != nil {
		return texts(string(raw))
	}
	switch {
	case b.Type == "resource_link" || b.Type == "" && b.URI != "" && b.Text == nil && b.Data == "":
		return texts(b.link())
	case b.Resource != nil:
		return b.Resource.content()
	}
	var content []mcp.Content
	if b.Text != nil {
		content = texts(*b.Text)
	}
	if b.Data != "" {
		content = append(content, blob(cmp.Or(b.Type, "content of no type"), b.MIMEType, b.Data))
	}
	for _, known := range []string{"text", "data", "mimeType", "annotations", "_meta"} {
		delete(fields, known)
	}
	_, named := fields["type"]
	switch known := b.Type == "text" || b.Type == "image" || b.Type == "audio"; {
	case !known && (len(fields) > 1 || len(fields) == 1 && !named):
		if rest, err := plan.EncodeJSON(fields); err == nil {
			content = append(content, texts(string(rest))...)
		}
	case len(content) == 0:
		content = texts(described(cmp.Or(b.Type, "content of no type"), b.MIMEType, "empty"))
	}
	return content
}

// Resource returns the contents of a resource that a call has read, in the form of
// [Read].
func Resource(call plan.ToolCall, contents []mcp.ResourceContents) (any, error) {
	read := &mcp.CallToolResult{}
	for _, c := range contents {
		switch c := c.(type) {
		case mcp.TextResourceContents:
			read.Content = append(read.Content, resourceBlock{URI: c.URI, MIMEType: c.MIMEType, Text: &c.Text}.content()...)
		case mcp.BlobResourceContents:
			read.Content = append(read.Content, resourceBlock{URI: c.URI, MIMEType: c.MIMEType, Blob: c.Blob}.content()...)
		}
	}
	return Read(call, read)
}

// content returns the text and the bytes of an embedded resource.
func (r resourceBlock) content() []mcp.Content {
	var content []mcp.Content
	if r.Text != nil {
		content = texts(*r.Text)
	}
	if r.Blob != "" {
		content = append(content, blob(strings.TrimSpace("resource "+r.URI), r.MIMEType, r.Blob))
	}
	if len(content) == 0 {
		content = texts(described(strings.TrimSpace("resource "+r.URI), r.MIMEType, "empty"))
	}
	return content
}

func texts(text string) []mcp.Content { return []mcp.Content{mcp.NewTextContent(text)} }

// blob returns bytes in base64 with the description of their block as their URI.
func blob(what, mediaType, base64 string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: what, MIMEType: mediaType, Blob: base64})
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
