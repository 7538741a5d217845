package result

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/jsonsize"
	"replan/mcpclient/builtin"
	"replan/planning/plan"
)

// leastBase64 is the length of the shortest string in JSON that is kept as a file if it is
// base64. Keys, hashes and tokens are shorter.
const leastBase64 = 1024

// mostBeside is the length of the longest JSON file whose text is kept beside its value, in
// bytes.
const mostBeside = 16 << 10

// reader turns the result of one call into the value of its step.
type reader struct {
	call  plan.ToolCall
	files []any           // the values of the binary blocks
	held  map[string]bool // hashes of the content in the structured content
}

func newReader(call plan.ToolCall) *reader { return &reader{call: call, held: map[string]bool{}} }

// Read returns a result in the form that the plan's variables see, and passes on
// what has no place there. Content that is no text goes to call.SaveAttachment.
func Read(call plan.ToolCall, result *mcp.CallToolResult) (any, error) {
	r := newReader(call)
	value, err := structured(result)
	if err != nil {
		return nil, err
	}
	if value != nil {
		more := func(string) bool { return false }
		if len(result.Content) > 0 {
			more = saysMore(value)
		}
		if value, err = r.withoutBase64(value, ""); err != nil {
			return nil, err
		}
		text, err := r.join(result, true, more)
		// The text of the built-in server sums up its structured content.
		if err == nil && text != "" && call.Beside != nil && !call.Tool.Trusted {
			call.Beside(text)
		}
		return value, err
	}
	text, err := r.join(result, false, nil)
	switch {
	case err != nil:
		return nil, err
	case len(r.files) > 0:
		return map[string]any{"text": text, "files": r.files}, nil
	case len(result.Content) == 0:
		return nil, nil // an empty result is valid
	}
	if value, ok := decoded(text); ok {
		// A model copies what it replaces in a file from the text as it is.
		if call.Tool.Trusted && call.Tool.Name == "fs.read" && len(text) <= mostBeside && call.Beside != nil {
			call.Beside(text)
		}
		return r.withoutBase64(value, "")
	}
	return text, nil
}

// decoded returns the value of a text that is a JSON object or array.
func decoded(text string) (value any, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, false
	}
	value, err := decode([]byte(text))
	return value, err == nil
}

// decode returns the value of a JSON text, unless it has too many. In the message, a text
// that holds JSON was a single value.
func decode(text []byte) (any, error) {
	if err := jsonsize.Check(text); err != nil {
		return nil, err
	}
	return plan.DecodeValue(text)
}

// Text returns the content of a result as text, for an error. Content that cannot
// be kept is named.
func Text(call plan.ToolCall, result *mcp.CallToolResult) string { return newReader(call).text(result) }

func (r *reader) text(result *mcp.CallToolResult) string {
	text, err := r.join(result, true, nil)
	if err != nil {
		text = strings.TrimSpace(text + "\n[" + err.Error() + "]")
	}
	return text
}

// join joins the blocks with newlines and keeps those that are no text. located
// names the file of each. want selects texts; nil selects all.
func (r *reader) join(result *mcp.CallToolResult, located bool, want func(text string) bool) (string, error) {
	var lines []string
	var failed error
	for _, content := range result.Content {
		if text, ok := mcp.AsTextContent(content); ok {
			if want == nil || want(text.Text) {
				lines = append(lines, text.Text)
			}
			continue
		}
		embedded, ok := mcp.AsEmbeddedResource(content)
		if !ok {
			continue // there is no other kind, see Readable
		}
		var line string
		var err error
		switch c := embedded.Resource.(type) {
		case mcp.BlobResourceContents:
			line, err = r.blob(c, located)
		case mcp.TextResourceContents:
			if want == nil || want(c.Text) {
				line, err = r.unread(c.Text)
			}
		}
		if err != nil {
			failed = errors.Join(failed, err)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), failed
}

// unread returns the JSON of what was not read of a block, with files for its base64.
func (r *reader) unread(text string) (string, error) {
	value, err := decode([]byte(text))
	if err != nil {
		return text, nil
	}
	if value, err = r.withoutBase64(value, ""); err != nil {
		return "", err
	}
	return plan.CanonicalJSON(value), nil
}

// blob keeps the bytes of a block and returns the line for it, "" if the
// structured content holds them. What is no base64 it returns as text.
func (r *reader) blob(b mcp.BlobResourceContents, located bool) (string, error) {
	content, declared, ok := decodeBase64(b.Blob)
	if !ok {
		return described(b.URI, b.MIMEType, "no valid base64, as it came") + "\n" + b.Blob, nil
	}
	if b.MIMEType != "" {
		declared = b.MIMEType
	}
	file, err := r.saveContent(content, declared)
	if err != nil {
		return "", fmt.Errorf("keep the %s that %s sent: %w", b.URI, r.call.Tool.QualifiedName(), err)
	}
	facts := []string{fmt.Sprint(file["type"]), fmt.Sprint(file["bytes"], " bytes")}
	if located {
		if r.held[fmt.Sprint(file["sha256"])] {
			return "", nil
		}
		if path, ok := file["file"].(string); ok {
			facts = append(facts, "kept as "+path)
		}
	}
	r.files = append(r.files, file)
	return described(b.URI, facts...), nil
}

// saveContent saves content as a file and returns its place in a value. Without a call
// that keeps files, the value holds the content.
func (r *reader) saveContent(content []byte, declared string) (map[string]any, error) {
	mediaType, _, err := mime.ParseMediaType(declared)
	if err != nil {
		mediaType, _, _ = mime.ParseMediaType(http.DetectContentType(content)) // always valid
	}
	if r.call.SaveAttachment != nil {
		kept, err := r.call.SaveAttachment(content, mediaType)
		return kept.Value(), err
	}
	sum := sha256.Sum256(content)
	value := plan.Attachment{Type: mediaType, Bytes: len(content), SHA256: hex.EncodeToString(sum[:])}.Value()
	delete(value, "file")
	value["base64"] = base64.StdEncoding.EncodeToString(content)
	return value, nil
}

// withoutBase64 replaces the long base64 strings of a JSON value by files. declared
// is the media type that the object around the value names. The built-in server
// sends text alone.
func (r *reader) withoutBase64(value any, declared string) (any, error) {
	if r.call.Tool.Trusted || r.call.SaveAttachment == nil {
		return value, nil
	}
	var err error
	switch v := value.(type) {
	case string:
		if len(v) < leastBase64 {
			return v, nil
		}
		content, inURL, ok := decodeBase64(v)
		if !ok || inURL == "" && !mixed(v) {
			return v, nil
		}
		if inURL != "" {
			declared = inURL
		}
		file, err := r.saveContent(content, declared)
		if err != nil {
			return nil, fmt.Errorf("keep the base64 that %s sent: %w", r.call.Tool.QualifiedName(), err)
		}
		r.held[fmt.Sprint(file["sha256"])] = true
		return file, nil
	case []any:
		for i, item := range v {
			if v[i], err = r.withoutBase64(item, declared); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		declared = ""
		for _, name := range []string{"mimeType", "mime_type", "mediaType", "media_type", "contentType", "content_type"} {
			if named, ok := v[name].(string); ok {
				declared = named
				break
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], err = r.withoutBase64(v[key], declared); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// decodeBase64 decodes base64 in either alphabet, with or without padding and line
// breaks, or a data URL, whose media type it returns.
func decodeBase64(text string) (content []byte, mediaType string, ok bool) {
	if rest, isURL := strings.CutPrefix(text, "data:"); isURL {
		head, body, found := strings.Cut(rest, ";base64,")
		if !found {
			return nil, "", false
		}
		mediaType, text = head, body
	}
	text = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", "\t", "", " ", "").Replace(strings.TrimSpace(text))
	content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return content, mediaType, err == nil && len(content) > 0
}

// mixed reports whether a text has no blanks, and capitals, small letters and digits,
// as long base64 has. Prose has blanks, hexadecimal numbers and repeated letters lack
// a kind.
func mixed(text string) bool {
	return !strings.Contains(text, " ") && strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
		strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(text, "0123456789")
}

// saysMore returns a function that reports whether a text is more than what a structured
// content holds. It may hold it as a text or, as JSON, as one of its values.
func saysMore(value any) func(text string) bool {
	structured := jsonContent{texts: map[string]bool{"": true}, values: map[hash]bool{}}
	structured.note(value)
	return func(text string) bool {
		text = strings.TrimSpace(text)
		if structured.texts[text] {
			return false
		}
		parsed, err := decode([]byte(text))
		return err != nil || !structured.values[hashOf(parsed, func(any, hash) {})]
	}
}

// jsonContent is what a JSON value says: each text in it, and the hash of each value.
type jsonContent struct {
	texts  map[string]bool
	values map[hash]bool
}

func (s jsonContent) note(value any) {
	hashOf(value, func(v any, h hash) {
		s.values[h] = true
		if text, ok := v.(string); ok {
			s.texts[strings.TrimSpace(text)] = true
		}
	})
}

type hash [sha256.Size]byte

// hashOf returns the hash of a JSON value, after it has called each with those of all
// values in it and of itself. Its time is linear in the size of the value, however deep
// that is.
func hashOf(value any, each func(value any, of hash)) (h hash) {
	sum := sha256.New()
	write := func(part hash) { _, _ = sum.Write(part[:]) } // never fails
	switch v := value.(type) {
	case []any:
		_, _ = sum.Write([]byte("["))
		for _, item := range v {
			write(hashOf(item, each))
		}
	case map[string]any:
		_, _ = sum.Write([]byte("{"))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			write(sha256.Sum256([]byte(name)))
			write(hashOf(v[name], each))
		}
	default:
		_, _ = sum.Write([]byte(plan.CanonicalJSON(value)))
	}
	h = hash(sum.Sum(nil))
	each(value, h)
	return h
}

// ToolError returns the error of a call whose result says that it failed. isBuiltin
// selects the metadata that the built-in servers add.
func ToolError(call plan.ToolCall, result *mcp.CallToolResult, isBuiltin bool) *plan.ToolError {
	r := newReader(call)
	failure := &plan.ToolError{Tool: call.Tool.QualifiedName()}
	// An unreadable result must not hide the message.
	if value, err := structured(result); err == nil {
		failure.Result, _ = r.withoutBase64(value, "")
	}
	failure.Message = r.text(result)
	if isBuiltin && result.Meta != nil {
		failure.Outdated, _ = result.Meta.AdditionalFields[builtin.MetaOutdated].(string)
		paths, _ := result.Meta.AdditionalFields[builtin.MetaPaths].(map[string]any)
		for name, at := range paths {
			if failure.Paths == nil {
				failure.Paths = map[string]string{}
			}
			failure.Paths[name], _ = at.(string)
		}
		failure.Removes, _ = result.Meta.AdditionalFields[builtin.MetaRemoves].(string)
	}
	switch {
	case strings.TrimSpace(failure.Message) == "" && failure.Result == nil:
		failure.Message = "the tool failed and did not say why"
	case strings.TrimSpace(failure.Message) == "":
		failure.Message = "the tool failed and did not say why; it sent " + plan.CanonicalJSON(failure.Result)
	case !isBuiltin && failure.Result != nil && !repeats(failure.Message, failure.Result):
		failure.Message += "\n" + plan.CanonicalJSON(failure.Result)
	}
	return failure
}

// repeats reports whether a text holds every leaf of a JSON value.
func repeats(text string, value any) bool {
	switch v := value.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !repeats(text, item) })
	case map[string]any:
		for _, item := range v {
			if !repeats(text, item) {
				return false
			}
		}
		return true
	case string:
		return strings.Contains(text, v)
	default:
		return strings.Contains(text, plan.CanonicalJSON(v))
	}
}

// structured parses the structured content. It returns nil if there is none.
func structured(result *mcp.CallToolResult) (any, error) {
	if len(result.RawStructuredContent) == 0 {
		return nil, nil
	}
	value, err := decode(result.RawStructuredContent)
	if err != nil {
		return nil, fmt.Errorf("reading the structured content of a result: %w", err)
	}
	return value, nil
}
