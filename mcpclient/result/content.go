package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/planning/plan"
)

// fields are the fields of a content block, or of the resource in it, that were not
// read yet.
type fields map[string]json.RawMessage

// read returns the fields of an object that hold content, or nil if raw is none.
func read(raw json.RawMessage) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f.withContent()
}

// withContent returns the fields without those that hold no content.
func (f fields) withContent() fields {
	delete(f, "annotations")
	delete(f, "_meta")
	maps.DeleteFunc(f, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return f
}

// take returns a field and removes it. A field of another type stays.
func take[T any](f fields, name string) T {
	var value, none T
	if raw, ok := f[name]; !ok || json.Unmarshal(raw, &value) != nil {
		return none
	}
	delete(f, name)
	return value
}

// hasOnly reports whether all fields are among the names.
func (f fields) hasOnly(names ...string) bool {
	for name := range f {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// Readable rewrites the raw result of a call so that its content is text, embedded blobs
// and embedded JSON. Each blob has a description of its block as its URI. The library's
// types reject a whole result with one unknown kind of content, or with structured content
// only. They lose fields of the result that they do not know. Structured content is one
// text, until [Restore]: the library would decode all its values, which nothing reads.
// Results that ask for more input and malformed results are returned unchanged.
func Readable(raw json.RawMessage) json.RawMessage {
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil || result == nil {
		return raw
	}
	var kind mcp.ResultType
	if json.Unmarshal(result["resultType"], &kind) == nil && kind == mcp.ResultTypeInputRequired {
		return raw
	}
	rest := fields(maps.Clone(result)).withContent()
	if old := rest["toolResult"]; old != nil && rest["structuredContent"] == nil {
		result["structuredContent"] = old // protocol 2024-10-07
		delete(rest, "toolResult")
	}
	blocks := []json.RawMessage{}
	if content := bytes.TrimSpace(result["content"]); len(content) > 0 && json.Unmarshal(content, &blocks) != nil {
		blocks = []json.RawMessage{content} // a single block outside a list
	}
	known := []mcp.Content{}
	for _, b := range blocks {
		known = append(known, contentOf(b)...)
	}
	for _, name := range []string{"content", "structuredContent", "isError", "ttlMs", "cacheScope"} {
		delete(rest, name)
	}
	if kind.IsComplete() {
		delete(rest, "resultType")
	}
	if len(rest) > 0 {
		unread, _ := plan.EncodeJSON(rest) // it was JSON
		known = append(known, embedded(unread))
	}
	content, err := json.Marshal(known)
	if err != nil {
		return raw
	}
	result["content"] = content
	if structured := result["structuredContent"]; structured != nil {
		if result["structuredContent"], err = plan.EncodeJSON(string(structured)); err != nil {
			return raw
		}
	}
	if rewritten, err := json.Marshal(result); err == nil {
		return rewritten
	}
	return raw
}

// Restore puts structured content in place of the text that [Readable] made of it.
func Restore(result *mcp.CallToolResult) {
	var text string
	if json.Unmarshal(result.RawStructuredContent, &text) == nil {
		result.RawStructuredContent, result.StructuredContent = json.RawMessage(text), nil
	}
}

// contentOf returns a content block as texts and embedded blobs, and as embedded
// JSON what it did not read of the block.
func contentOf(raw json.RawMessage) []mcp.Content {
	f := read(raw)
	if f == nil {
		var text *string
		if json.Unmarshal(raw, &text) != nil {
			return texts(string(raw))
		}
		if text == nil {
			return nil // null
		}
		return texts(*text)
	}
	kind, text, data := take[string](f, "type"), take[*string](f, "text"), take[string](f, "data")
	var content []mcp.Content
	if kind == "resource_link" || kind == "" && text == nil && data == "" && f["uri"] != nil {
		content = texts(f.link())
	} else if resource := read(f["resource"]); resource != nil {
		content = resource.resource()
		if delete(f, "resource"); len(resource) > 0 {
			f["resource"], _ = plan.EncodeJSON(resource) // it was JSON
		}
	}
	if text != nil || data != "" || len(content) == 0 && f.hasOnly("mimeType") {
		content = append(content, textAndBytes(cmp.Or(kind, "content of no type"), take[string](f, "mimeType"), text, data)...)
	}
	if len(f) == 0 {
		return content
	}
	if kind != "" {
		f["type"], _ = plan.EncodeJSON(kind) // a text always has JSON
	}
	rest, err := plan.EncodeJSON(f)
	if err != nil {
		return texts(string(raw))
	}
	return append(content, embedded(rest))
}

// embedded returns the JSON of fields that were not read.
func embedded(unread json.RawMessage) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "unread", MIMEType: "application/json", Text: string(unread)})
}

// Resource returns the contents of a resource that a call has read, in the form of
// [Read].
func Resource(call plan.ToolCall, contents []mcp.ResourceContents) (any, error) {
	read := &mcp.CallToolResult{}
	for _, c := range contents {
		switch c := c.(type) {
		case mcp.TextResourceContents:
			read.Content = append(read.Content, textAndBytes(strings.TrimSpace("resource "+c.URI), c.MIMEType, &c.Text, "")...)
		case mcp.BlobResourceContents:
			read.Content = append(read.Content, textAndBytes(strings.TrimSpace("resource "+c.URI), c.MIMEType, nil, c.Blob)...)
		}
	}
	return Read(call, read)
}

// resource takes the content of an embedded resource. Of a resource that has
// neither text nor bytes, it takes nothing if there are other fields.
func (f fields) resource() []mcp.Content {
	text, data := take[*string](f, "text"), take[string](f, "blob")
	if text == nil && data == "" && !f.hasOnly("uri", "mimeType") {
		return nil
	}
	return textAndBytes(strings.TrimSpace("resource "+take[string](f, "uri")), take[string](f, "mimeType"), text, data)
}

// textAndBytes returns the text and the bytes in base64 of a block or a resource, or
// a line that it is empty.
func textAndBytes(what, mediaType string, text *string, base64 string) []mcp.Content {
	var content []mcp.Content
	if text != nil {
		content = texts(*text)
	}
	if base64 != "" {
		content = append(content, blob(what, mediaType, base64))
	}
	if len(content) == 0 {
		content = texts(described(what, mediaType, "empty"))
	}
	return content
}

func texts(text string) []mcp.Content { return []mcp.Content{mcp.NewTextContent(text)} }

// blob returns bytes in base64 with the description of their block as their URI.
func blob(what, mediaType, base64 string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: what, MIMEType: mediaType, Blob: base64})
}

// link takes the fields of a resource link and formats them as one line.
func (f fields) link() string {
	delete(f, "icons") // for screens alone, often in base64
	title, name, size := take[string](f, "title"), take[string](f, "name"), take[json.Number](f, "size").String()
	if title == name {
		title = ""
	}
	if size != "" {
		size += " bytes"
	}
	line := described(strings.TrimSpace("resource link "+take[string](f, "uri")), title, name, take[string](f, "mimeType"), size)
	return strings.TrimSpace(line + " " + take[string](f, "description"))
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
