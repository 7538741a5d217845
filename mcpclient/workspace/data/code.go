package data

import (
	"context"
	"fmt"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// codeFormat is source code, in which a constant or a variable has a literal value.
type codeFormat struct {
	ctx       context.Context //nolint:containedctx // of the one call that it is made for
	file, key string
}

func (f codeFormat) slots(document string) ([]slot, error) {
	lang, known := source.LanguageOf(f.file)
	if !known || lang.Sort == source.Prose || lang.Sort == source.Markup {
		return nil, fmt.Errorf("values of such files are not known; change the text with fs.patch")
	}
	code, err := source.Lex(f.ctx, f.file, document)
	if err != nil {
		return nil, err
	}
	if code.Plain() {
		return nil, fmt.Errorf("it takes too much work to read %s as %s; change the text with fs.patch", f.file, lang.Name)
	}
	var all []slot
	for _, v := range code.Values(source.ParseName(f.key)) {
		all = append(all, slot{key: f.key, start: v.Start, end: v.End})
	}
	if len(all) > 0 {
		return all, nil
	}
	for _, e := range code.Extents() { // those that may be meant
		for _, v := range code.Values(source.ParseName(e.Name)) {
			if v.Line == e.Line {
				all = append(all, slot{key: e.Name, start: v.Start, end: v.End})
			}
		}
	}
	return all, nil
}

var opens = lazyregexp.New("^([A-Za-z@]{0,2})(\"\"\"|'''|\"|'|`)")

func (f codeFormat) quote(old, text string) (string, error) {
	m := opens.FindStringSubmatch(old)
	if m == nil { // null, none or nil
		if plainLiteral(text) {
			return text, nil
		}
		return quoted(text), nil
	}
	prefix, quote := m[1], m[2]
	raw := quote == "`" || strings.ContainsAny(prefix, "rR@")
	switch {
	case raw && strings.Contains(text, quote), quote == "'" && strings.HasSuffix(f.file, ".go"), len(quote) == 1 && quote != "`" && strings.Contains(text, "\n"):
		return "", fmt.Errorf("the value %s cannot take that text; change it with fs.patch", old)
	case !raw:
		text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), quote, `\`+quote)
	}
	return prefix + quote + text + quote, nil
}

func (f codeFormat) add(string, string, string) (string, bool, error) { return "", false, nil }
