package files

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
)

const (
	maxNear   = 1 << 20 // bytes of a file in which near misses are looked for
	leastNear = 3       // characters of a text that is matched nearly
)

// replacement replaces one piece of a text with another.
type replacement struct {
	at, text, old, with string
}

// target is the part of a text that a replacement is for.
type target struct {
	start, end int
	with       string
	note       string // how it differs from what was asked for; "" if it does not
}

// nearness is a difference that a near miss may have.
type nearness struct {
	name           string
	space, letters bool // what is ignored
	blanks         bool // and blanks between words, too
}

// nearnesses are the differences of near misses, the smallest first.
var nearnesses = []nearness{
	{name: "ignoring white space", space: true},
	{name: "ignoring case", letters: true},
	{name: "ignoring case and white space", space: true, letters: true},
	{name: "ignoring case and blanks", space: true, letters: true, blanks: true},
}

// nearest returns the one place that an old text without an exact match is meant for.
// It fails if there is none, or if there are several equally near ones.
func (r replacement) nearest(ctx context.Context) (target, error) {
	if len(r.text) > maxNear || utf8.RuneCountInString(strings.Join(strings.Fields(r.old), "")) < leastNear {
		return r.unmatched(ctx)
	}
	for _, n := range nearnesses {
		places := n.find(r.text, r.old)
		if len(places) > 1 {
			if t, ok := r.inside(ctx, places...); ok {
				return t, nil
			}
			return target{}, r.several(n.name, places)
		}
		if len(places) == 0 {
			continue
		}
		t := target{start: places[0].start, end: places[0].end, with: r.with}
		if core, ok := n.core(r, t); ok {
			core.note = fmt.Sprintf("old was matched %s, to %s", n.name, r.quoted(places[0]))
			return core, nil
		}
		if n.space {
			t = r.fit(t)
		}
		t.note = fmt.Sprintf("old was matched %s, to %s", n.name, r.quoted(places[0]))
		return r.whole(ctx, t), nil
	}
	return r.declaration(ctx)
}

// core narrows a target on one line to what differs between the old and the new text. So
// the file keeps what both have in common: a capital, a blank. ok is false where that is
// not clear.
func (n nearness) core(r replacement, t target) (target, bool) {
	const most = 3 // lines
	if strings.Count(r.old, "\n") >= most || strings.Count(r.old, "\n") != strings.Count(r.with, "\n") || r.with == "" {
		return target{}, false
	}
	in, old, with := n.normalize(r.text[t.start:t.end]), n.normalize(r.old), n.normalize(r.with)
	if len(in.text) != len(old.text) || len(with.text) == 0 {
		return target{}, false
	}
	before := 0
	for before < min(len(old.text), len(with.text)) && old.text[before] == with.text[before] {
		before++
	}
	after := 0
	for after < min(len(old.text), len(with.text))-before && old.text[len(old.text)-1-after] == with.text[len(with.text)-1-after] {
		after++
	}
	// Only whole words differ, and none of the texts ends in the middle of one.
	for before > 0 && (in.inWord(before) || old.inWord(before) || with.inWord(before)) {
		before--
	}
	for after > 0 && (in.inWord(len(in.text)-after) || old.inWord(len(old.text)-after) || with.inWord(len(with.text)-after)) {
		after--
	}
	if before+after >= len(old.text) || before+after >= len(with.text) || before+after == 0 {
		return target{}, false
	}
	from, to := in.part(before, after)
	oldFrom, oldTo := old.part(before, after)
	newFrom, newTo := with.part(before, after)
	// The file keeps the blanks around the part, unless the new text changes those of the old one.
	if before > 0 && r.old[old.to[before-1]:oldFrom] != r.with[with.to[before-1]:newFrom] {
		from, newFrom = in.to[before-1], with.to[before-1]
	}
	if after > 0 && r.old[oldTo:old.from[len(old.text)-after]] != r.with[newTo:with.from[len(with.text)-after]] {
		to, newTo = in.from[len(in.text)-after], with.from[len(with.text)-after]
	}
	core := target{start: t.start + from, end: t.start + to, with: r.with[newFrom:newTo]}
	// Lines need the indentation of the file.
	return core, !strings.Contains(core.with+r.text[core.start:core.end], "\n")
}

// find returns the places where old occurs but for the differences that are ignored.
func (n nearness) find(text, old string) []target {
	in, want := n.normalize(text), n.normalize(old)
	if len(want.text) == 0 {
		return nil
	}
	first, _ := utf8.DecodeRune(want.text)
	last, _ := utf8.DecodeLastRune(want.text)
	var found []target
	for from := 0; ; {
		i := strings.Index(string(in.text[from:]), string(want.text))
		if i < 0 {
			return found
		}
		i += from
		_, size := utf8.DecodeRune(in.text[i:])
		from = i + size
		t := target{start: in.from[i], end: in.to[i+len(want.text)-1]}
		before, _ := utf8.DecodeLastRuneInString(text[:t.start])
		after, _ := utf8.DecodeRuneInString(text[t.end:])
		if t.start > 0 && joined(before, first) || t.end < len(text) && joined(last, after) {
			continue // a part of a word
		}
		if found = append(found, t); len(found) > 100 {
			return found
		}
	}
}

// normal is a text in a form in which near misses are equal. Each of its bytes has
// an offset in the text, that of the character that it is of.
type normal struct {
	text     []byte
	from, to []int
}

// normalize leaves out the differences. White space is kept only between words, as
// one blank.
func (n nearness) normalize(text string) normal {
	var out normal
	add := func(r rune, from, to int) {
		before := len(out.text)
		out.text = utf8.AppendRune(out.text, r)
		for range len(out.text) - before {
			out.from, out.to = append(out.from, from), append(out.to, to)
		}
	}
	gap, inWord, from := false, false, 0 // from is where the white space begins
	for i, r := range text {
		if n.space && unicode.IsSpace(r) {
			if !gap {
				gap, from = true, i
			}
			continue
		}
		if gap && inWord && isWord(r) && !n.blanks {
			add(' ', from, i)
		}
		gap, inWord = false, isWord(r)
		end := i + utf8.RuneLen(r)
		if n.letters {
			r = unicode.ToLower(r)
		}
		add(r, i, end)
	}
	return out
}

// inWord reports whether a word goes on at a byte of the form, in the text itself.
func (n normal) inWord(at int) bool {
	return at > 0 && at < len(n.text) && isWord(rune(n.text[at-1])) && isWord(rune(n.text[at])) && n.to[at-1] == n.from[at]
}

// part returns where the text is that is left without so many bytes of its form before
// and after it.
func (n normal) part(before, after int) (from, to int) {
	return n.from[before], n.to[len(n.text)-after-1]
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// joined reports whether two characters beside each other are parts of one word or
// operator.
func joined(a, b rune) bool {
	const signs = "=<>!&|+-*/:^%"
	return isWord(a) && isWord(b) || strings.ContainsRune(signs, a) && strings.ContainsRune(signs, b)
}

// fit widens a target that was found without regard to white space to whole lines,
// and gives the new text the indentation of the file.
func (r replacement) fit(t target) target {
	from, to := linesOf(r.text, t.start, t.end)
	if strings.TrimSpace(r.text[from:t.start]) != "" || strings.TrimSpace(r.text[t.end:to]) != "" {
		if strings.TrimLeft(r.old, " \t\r\n") != r.old {
			t.with = strings.TrimLeft(t.with, " \t\r\n")
		}
		if strings.TrimRight(r.old, " \t\r\n") != r.old {
			t.with = strings.TrimRight(t.with, " \t\r\n")
		}
		return t
	}
	t.with = reindent(trimBlankLines(t.with), indents(r.old), indents(r.text[from:to]))
	t.start, t.end = from, to
	return r.ended(t)
}

// ended extends a target of whole lines over the end of the last one where nothing
// takes its place.
func (r replacement) ended(t target) target {
	if t.with == "" && t.end < len(r.text) {
		t.end += 1 + strings.IndexByte(r.text[t.end:], '\n')
	}
	return t
}

// linesOf returns the beginning of the line of one offset and the end of that of
// another, without its line end.
func linesOf(text string, start, end int) (from, to int) {
	from = strings.LastIndexByte(text[:start], '\n') + 1
	to = len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i
		if to > from && text[to-1] == '\r' && to-1 >= end {
			to--
		}
	}
	return from, to
}

// trimBlankLines takes the blank lines off both ends of a text, and its last line end.
func trimBlankLines(text string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	return strings.TrimRight(text, " \t\r\n")
}

// indents lists the indentation of the lines of a text that are not blank.
func indents(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			all = append(all, line[:len(line)-len(strings.TrimLeft(line, " \t"))])
		}
	}
	return all
}

// reindent replaces the indentation that the lines of a text have in a request by
// that which they have in the file. Both list the indentation of the same lines.
func reindent(text string, given, actual []string) string {
	if len(given) == 0 || len(actual) == 0 {
		return text
	}
	known := map[string]string{given[0]: actual[0]}
	if len(given) == len(actual) {
		for i, indent := range given {
			if _, ok := known[indent]; !ok {
				known[indent] = actual[i]
			}
		}
	}
	tabs := slices.ContainsFunc(actual, func(s string) bool { return strings.Contains(s, "\t") })
	unit := unitOf(append(slices.Clone(given), indents(text)...))
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(rest)]
		if strings.TrimSpace(rest) == "" {
			b.WriteString(rest)
			continue
		}
		with, ok := known[indent]
		if !ok {
			base := ""
			for from := range known {
				if strings.HasPrefix(indent, from) && len(from) > len(base) {
					base = from
				}
			}
			deeper := indent[len(base):]
			if tabs && strings.Trim(deeper, " ") == "" {
				deeper = strings.Repeat("\t", len(deeper)/unit)
			}
			with = known[base] + deeper
		}
		b.WriteString(with)
		b.WriteString(rest)
	}
	return b.String()
}

// unitOf returns the number of blanks of one level of indentation.
func unitOf(indents []string) int {
	unit := 0
	for _, indent := range indents {
		if n := len(indent); n > 0 && strings.Trim(indent, " ") == "" && (unit == 0 || n < unit) {
			unit = n
		}
	}
	return cmp.Or(unit, 4)
}

// whole widens a target that was found to what the replacement must be meant for. That is
// the word before it that only the new text has, or the whole declaration that it begins.
func (r replacement) whole(ctx context.Context, t target) target {
	if block, ok := r.begun(ctx, t); ok {
		return block
	}
	if block, ok := r.inside(ctx, t); ok {
		return block
	}
	from, _ := linesOf(r.text, t.start, t.end)
	word := firstWord(r.old)
	for i := from; i < t.start && word != ""; i++ {
		before := r.text[i:t.start]
		if i > from && !unicode.IsSpace(rune(r.text[i-1])) || strings.TrimSpace(before) == "" || strings.TrimRight(before, " \t") == before {
			continue
		}
		if rest, ok := strings.CutPrefix(t.with, before); ok && firstWord(rest) == word && !strings.HasPrefix(r.old, before) {
			t.start = i
			t.note = joinNotes(t.note, fmt.Sprintf("old was matched with %q before it, which only new has", before))
			return t
		}
	}
	return t
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// firstWord returns the letters and digits that a text begins with.
func firstWord(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// lexed reads the file as code. It is nil for other files.
func (r replacement) lexed(ctx context.Context, text string) *source.File {
	lang, known := source.LanguageOf(r.at)
	if !known || lang.Sort != source.Source || !lang.Knows() || len(text) > maxNear {
		return nil
	}
	f, err := source.Lex(ctx, r.at, text)
	if err != nil || f.Plain() {
		return nil
	}
	return f
}

// begun returns the whole declaration that a target is the beginning of, where only that
// can be meant. Nothing is to take its place, or a whole declaration is.
func (r replacement) begun(ctx context.Context, t target) (target, bool) {
	if strings.TrimSpace(t.with) != "" && balance(r.text[t.start:t.end]) == 0 {
		return target{}, false
	}
	f := r.lexed(ctx, r.text)
	if f == nil {
		return target{}, false
	}
	for _, e := range f.Extents() {
		name := f.LineStart(e.Line) + e.Column - 1
		first := strings.TrimLeft(r.text[f.LineStart(e.Start):], " \t")
		begin := len(r.text) - len(first)
		if !e.IsBlock() && t.start == begin || t.start < begin || t.start > name || t.end <= name {
			continue
		}
		end := f.LineStart(e.End + 1)
		rest := strings.TrimSpace(r.text[min(t.end, end):end])
		if t.end > end || !e.IsBlock() && rest != "" || rest == "" && t.start == begin {
			continue // all of it, as it was asked for
		}
		return r.replaced(ctx, f, e)
	}
	return target{}, false
}

// replaced returns the target of a whole declaration that the new text takes the place
// of. It fails if the new text is no whole declaration.
func (r replacement) replaced(ctx context.Context, f *source.File, e source.Extent) (target, bool) {
	note := fmt.Sprintf("old is only a part of %s, and was matched to the whole of it, lines %d to %d", e.Name, e.Start, e.End)
	if strings.TrimSpace(r.with) == "" {
		edit, err := f.Remove(e)
		if err != nil {
			return target{}, false
		}
		return target{start: edit.Start, end: edit.End, with: edit.New, note: note}, true
	}
	with := trimBlankLines(r.with)
	text := r.lexed(ctx, with)
	if text == nil {
		return target{}, false
	}
	block, ok := text.Block()
	if !ok || block.Line == block.End && e.Line != e.End || !e.IsBlock() {
		return target{}, false
	}
	given := reindent(with, indents(with)[:1], indents(r.text[f.LineStart(e.Start):])[:1])
	whole, from := r.withTop(given, text, block, f, e)
	t := target{start: f.LineStart(from), end: f.LineStart(e.End + 1), with: whole, note: note}
	if t.end > t.start && r.text[t.end-1] == '\n' {
		if t.end--; t.end > t.start && r.text[t.end-1] == '\r' {
			t.end--
		}
	}
	return t, true
}

// balance returns how many more brackets a text opens than it closes.
func balance(text string) int {
	depth := 0
	for _, r := range text {
		switch r {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		}
	}
	return depth
}

// declaration returns the whole declaration whose beginning or signature old nearly
// has, where nothing or a whole declaration is to take its place.
func (r replacement) declaration(ctx context.Context) (target, error) {
	f := r.lexed(ctx, r.text)
	if f == nil {
		return r.unmatched(ctx)
	}
	head, body := splitHead(r.old)
	any := nearness{space: true, letters: true}
	var found []target
	for _, e := range f.Extents() {
		lines := r.text[f.LineStart(e.Start):f.LineStart(e.End+1)]
		if !e.IsBlock() || len(head) < leastNear || !strings.Contains(strings.ToLower(head), strings.ToLower(lastPart(e.Name))) {
			continue
		}
		if places := any.find(lines, strings.TrimRight(head, " \t{:")); len(places) == 0 || places[0].start > strings.IndexByte(lines+"\n", '\n') || !alike(body, lines) {
			continue
		}
		if t, ok := r.replaced(ctx, f, e); ok {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return r.unmatched(ctx)
	case 1:
		return found[0], nil
	default:
		return target{}, r.several("as the beginning of a declaration", found)
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// splitHead returns the first line of a declaration, without the comments and
// decorators above it, and the lines after it.
func splitHead(old string) (head, body string) {
	for rest := old; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "@") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*") {
			continue
		}
		return line, rest
	}
	return "", ""
}

// alike reports whether at least half of the lines of a body, as far as it is given,
// are similar to lines of a declaration.
func alike(body, declaration string) bool {
	var lines []map[[2]byte]int
	for line := range strings.Lines(declaration) {
		lines = append(lines, bigrams(strings.TrimSpace(line)))
	}
	given, same := 0, 0
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if len(line) < leastNear || strings.Trim(line, ".…/# ") == "" {
			continue
		}
		given++
		pairs := bigrams(line)
		if slices.ContainsFunc(lines, func(other map[[2]byte]int) bool { return dice(pairs, other) >= 0.6 }) {
			same++
		}
	}
	return 2*same >= given
}

// quoted names a place with its line and its text.
func (r replacement) quoted(t target) string {
	from, to := linesOf(r.text, t.start, t.start)
	return fmt.Sprintf("line %d: %s", 1+strings.Count(r.text[:t.start], "\n"), op.Clip(strings.TrimSpace(r.text[from:to])))
}

// several returns the error that old may mean several places.
func (r replacement) several(how string, places []target) error {
	const shown = 4
	lines := make([]string, 0, shown)
	for _, t := range places[:min(len(places), shown)] {
		lines = append(lines, r.quoted(t))
	}
	more := ""
	if left := len(places) - shown; left > 0 {
		more = fmt.Sprintf("\nand %d more", left)
	}
	return fmt.Errorf("old does not occur in %s exactly, and %s are equally near %s; copy one of them with more of the text around it:\n%s%s",
		r.at, english.Count(len(places), "place"), how, strings.Join(lines, "\n"), more)
}

// notFound returns the error that nothing is near old, with the most similar lines of
// the file as they stand there.
func (r replacement) notFound() error {
	from, to := mostSimilar(r.text, r.old)
	if from == 0 {
		return fmt.Errorf("old does not occur in %s, and no line is similar; read the file and copy the text exactly", r.at)
	}
	lines := strings.Split(r.text, "\n")[from-1 : to]
	where := fmt.Sprintf("lines are %d to %d", from, to)
	if from == to {
		where = fmt.Sprintf("line is %d", from)
	}
	return fmt.Errorf("old does not occur in %s; the most similar %s; copy what you want to replace exactly:\n%s", r.at, where, strings.Join(lines, "\n"))
}

// mostSimilar returns the range of lines of text that are most similar to those of
// old, counted from 1. It returns 0 if none is similar enough.
func mostSimilar(text, old string) (from, to int) {
	const most = 12 // lines that are shown
	var wanted []map[[2]byte]int
	var sizes []int
	for line := range strings.Lines(strings.TrimSpace(old)) {
		line = strings.TrimSpace(line)
		wanted, sizes = append(wanted, bigrams(line)), append(sizes, len(line))
		if len(wanted) == most {
			break
		}
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	best := 0.0
	for i := range lines {
		score, weight := 0.0, 0
		for k, pairs := range wanted {
			weight += sizes[k]
			if i+k < len(lines) {
				score += float64(sizes[k]) * similarity(pairs, sizes[k], strings.TrimSpace(lines[i+k]))
			}
		}
		if weight > 0 && score/float64(weight) > best {
			best, from, to = score/float64(weight), i+1, min(i+len(wanted), len(lines))
		}
	}
	const alike = 0.4 // below this a hint would mislead
	if best < alike {
		return 0, 0
	}
	return from, to
}

// similarity compares the letter pairs of a line with another line. Lines of very
// different length cannot be similar, and comparing them is slow.
func similarity(pairs map[[2]byte]int, size int, line string) float64 {
	if len(line) > 3*size+8 || size > 3*len(line)+8 {
		return 0
	}
	return dice(pairs, bigrams(line))
}
