package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// Operators implements the operators for values.
type Operators struct {
	tree    *tree.Tree
	changes *change.Writer
}

// New returns the operators.
func New(files *tree.Tree, changes *change.Writer) *Operators {
	return &Operators{tree: files, changes: changes}
}

// Tools returns the tools for values.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[setArgs, change.Result]{
			Name: "data.set",
			Description: "Set one value of a JSON, TOML, YAML, .env or .ini file, or of a constant or variable in code; its type and all else stay. " +
				`Example: {"path": "config/dev.json", "key": "server.timeout", "value": "60"}. ` +
				"The result is {files: [{path, action, added, removed, note}], diff}.",
			Destructive: true, Idempotent: true, Previews: true, Run: o.set,
		}.Tool(),
	}
}

type setArgs struct {
	Path  string `json:"path" jsonschema:"file, relative to the workspace"`
	Key   string `json:"key" jsonschema:"name of the value, with dots between levels: server.timeout; in code the name of the constant or variable"`
	Value string `json:"value" jsonschema:"the new value, without quotes"`
}

// slot is a place of a document that holds a value.
type slot struct {
	key        string // with dots between levels
	start, end int    // bytes of the value as it is written
	fixed      string // why it cannot be set; "" if it can
}

// format is one way to write values.
type format interface {
	// slots lists the values of a document.
	slots(document string) ([]slot, error)
	// quote writes a text in place of a value, which may be no text.
	quote(old, text string) (string, error)
	// add adds a new key with a value, and reports false if it cannot.
	add(document, key, value string) (after string, ok bool, err error)
}

func (o *Operators) set(ctx context.Context, c op.Call, args setArgs) (*op.Answer[change.Result], error) {
	key := normalKey(args.Key)
	if key == "" {
		return nil, errors.New("the argument key of data.set is empty; name the value, like server.timeout")
	}
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		at, err := o.tree.Changeable(args.Path)
		if err != nil {
			return nil, err
		}
		before, err := o.tree.LoadText(at)
		if err != nil {
			return nil, err
		}
		if !before.Exists {
			return nil, o.tree.NoFile(ctx, at)
		}
		after, note, err := setIn(formatOf(ctx, at, key), at, string(before.Data), key, args.Value)
		if err != nil {
			return nil, err
		}
		if err := change.CheckText("value", after); err != nil {
			return nil, err
		}
		return []change.Change{{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(after), Mode: before.Mode}, Note: note}}, nil
	})
}

var index = lazyregexp.New(`\[(\d+)\]`)

// normalKey returns a key with dots between its levels: $.servers[0].port is
// servers.0.port.
func normalKey(key string) string {
	key = strings.Trim(strings.TrimSpace(key), "`'\"")
	return strings.Trim(strings.TrimPrefix(index.ReplaceAllStringFunc(key, func(s string) string { return "." + strings.Trim(s, "[]") }), "$"), ".")
}

// formatOf returns the format of a file. All other files are read as code.
func formatOf(ctx context.Context, file, key string) format {
	base := strings.ToLower(path.Base(file))
	switch end := path.Ext(base); {
	case end == ".json" || end == ".jsonc" || end == ".json5" || end == ".webmanifest":
		return jsonFormat{}
	case end == ".toml":
		return tomlFormat{}
	case end == ".yaml" || end == ".yml":
		return yamlFormat{}
	case strings.HasPrefix(base, ".env") || slices.Contains([]string{".env", ".ini", ".cfg", ".conf", ".properties", ".editorconfig", ".sh", ".bash", ".mk"}, end) || base == "makefile" || base == "dockerfile":
		return settings{sections: end == ".ini" || end == ".cfg" || end == ".conf" || end == ".editorconfig", colons: end == ".properties" || end == ".cfg" || end == ".ini"}
	default:
		return codeFormat{ctx: ctx, file: file, key: key}
	}
}

// setIn returns the document with the value of the key, and what to know of it.
func setIn(f format, file, document, key, value string) (after, note string, err error) {
	slots, err := f.slots(document)
	if err != nil {
		return "", "", fmt.Errorf("%s cannot be read: %w", file, err)
	}
	var found []slot
	for _, s := range slots {
		if s.key == key {
			found = append(found, s)
		}
	}
	switch {
	case len(found) > 1:
		return "", "", fmt.Errorf("%s has %d values named %s: %s; change the one you mean with fs.patch", file, len(found), key, listed(document, found))
	case len(found) == 1 && found[0].fixed != "":
		return "", "", fmt.Errorf("%s in %s %s; change it with fs.patch", key, file, found[0].fixed)
	case len(found) == 1:
		s := found[0]
		literal, err := written(f, key, document[s.start:s.end], value)
		if err != nil {
			return "", "", err
		}
		if literal == document[s.start:s.end] {
			return "", "", fmt.Errorf("%s in %s is %s already; there is nothing to change", key, file, op.Clip(literal))
		}
		return document[:s.start] + literal + document[s.end:], "", nil
	}
	if near := nearKeys(slots, key); len(near) > 0 {
		return "", "", fmt.Errorf("%s has no key %s; near it: %s", file, key, listed(document, near))
	}
	after, ok, err := f.add(document, key, value)
	if err != nil {
		return "", "", fmt.Errorf("%s has no key %s, and it cannot be added: %w", file, key, err)
	}
	if !ok {
		has := "no values that can be set"
		if len(slots) > 0 {
			has = "these: " + listed(document, slots)
		}
		return "", "", fmt.Errorf("%s has no key %s; it has %s", file, key, has)
	}
	return after, fmt.Sprintf("the key %s is new", key), nil
}

// listed names slots with their lines and values.
func listed(document string, slots []slot) string {
	const most = 8
	var parts []string
	for _, s := range slots[:min(len(slots), most)] {
		value, _, more := strings.Cut(document[s.start:s.end], "\n")
		if more {
			value += " …"
		}
		parts = append(parts, fmt.Sprintf("%s = %s (line %d)", s.key, op.Clip(strings.TrimSpace(value)), 1+strings.Count(document[:s.start], "\n")))
	}
	if len(slots) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(slots)-most))
	}
	return strings.Join(parts, ", ")
}

// nearKeys returns the slots whose keys may be meant by one that is missing. They have the
// same last part, other letters, or one or two wrong ones.
func nearKeys(slots []slot, key string) []slot {
	lower, last := strings.ToLower(key), lastPart(strings.ToLower(key))
	letters := func(s string) string {
		all := []byte(s)
		slices.Sort(all)
		return string(all)
	}
	loose := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(s) }
	var near []slot
	for _, s := range slots {
		have, haveLast := strings.ToLower(s.key), lastPart(strings.ToLower(s.key))
		allowed := 1
		if len(last) > 5 {
			allowed = 2
		}
		if have == lower || loose(haveLast) == loose(last) || letters(have) == letters(lower) || levenshtein.ComputeDistance(have, lower) <= allowed {
			near = append(near, s)
		}
	}
	slices.SortStableFunc(near, func(a, b slot) int {
		return cmp.Compare(levenshtein.ComputeDistance(a.key, key), levenshtein.ComputeDistance(b.key, key))
	})
	return near
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

var (
	number   = lazyregexp.New(`^[+-]?(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)$`)
	suffixed = lazyregexp.New(`^([+-]?\d[\d_.]*)((?:[uif](?:8|16|32|64|128|size)|[fFdDlLuU]+))$`)
	truths   = map[string]bool{"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false}
)

// written returns a value as it is written in place of an old one, whose type it keeps.
func written(f format, key, old, value string) (string, error) {
	bare := strings.TrimSpace(value)
	if n := len(bare); n >= 2 && strings.IndexByte("\"'`", bare[0]) >= 0 && bare[n-1] == bare[0] {
		bare = bare[1 : n-1]
	}
	lower := strings.ToLower(old)
	switch {
	case number.MatchString(old):
		if !number.MatchString(bare) {
			return "", fmt.Errorf("%s is the number %s, and %q is none", key, old, op.Clip(value))
		}
		return bare, nil
	case suffixed.MatchString(old):
		if suffix := suffixed.FindStringSubmatch(old)[2]; number.MatchString(bare) {
			return bare + suffix, nil
		}
		return "", fmt.Errorf("%s is the number %s, and %q is none", key, old, op.Clip(value))
	case lower == "true" || lower == "false":
		truth, ok := truths[strings.ToLower(bare)]
		if !ok {
			return "", fmt.Errorf("%s is %s, and %q is neither true nor false", key, old, op.Clip(value))
		}
		word := fmt.Sprint(truth)
		if old[0] == 'T' || old[0] == 'F' {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		return word, nil
	}
	return f.quote(old, bare)
}

// plainLiteral reports whether a text can only be meant as a number, a truth value, or
// a list or an object.
func plainLiteral(text string) bool {
	return number.MatchString(text) || text == "true" || text == "false" || strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") || strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}")
}
