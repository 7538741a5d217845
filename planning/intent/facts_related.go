package intent

import (
	"cmp"
	"context"
	"iter"
	"math"
	"path"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/testfile"
)

// The bounds of what is read for a goal that names nothing.
const (
	mostRelated  = 2       // files
	relatedFile  = 6 << 10 // bytes; a larger file would take too long to read
	mostSearched = 400     // files that are looked through for words
	mostMeasured = 4000    // files whose size is asked for
	relatedAll   = 1 << 20 // bytes of them together
	mostTopics   = 8       // words
	leastRank    = 0.6     // of the best file, to be read beside it
)

// idleWords stand in many goals and are about nothing.
var idleWords = strings.Fields("happen happens if more than less most least other another after before again only also not none one two long big " +
	"get gets got use used uses using make makes made work works need needs want wants way thing things someone else should must will being during about into")

// topics returns the stems of the words that a goal is about, in lower case.
func topics(goal string) []string {
	var stems []string
	for _, t := range split(goal[:min(len(goal), mostWords)], 4*maxWords) {
		word := strings.Trim(t.key, "'\"`")
		if len(stems) == mostTopics {
			break
		}
		if len(word) < 3 || t.is(plainWords...) || t.is(idleWords...) || t.is(questions...) || t.is(asking...) || t.is(imperatives...) || t.is(fillers...) || strings.ContainsAny(word, "/.*") {
			continue
		}
		for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
			if cut, ok := strings.CutSuffix(word, ending); ok && len(cut) >= 3 {
				word = cut
				break
			}
		}
		if !slices.Contains(stems, word) {
			stems = append(stems, word)
		}
	}
	return stems
}

// Reader returns the size of a file, and its text if it has at most so many bytes; 0 if it
// cannot be read.
type Reader func(at string, most int64) (text string, size int64)

// Search finds the files that hold most of the words of the goal. It looks through the texts
// of [Survey.Texts], and finds nothing once ctx has ended.
func (s *Survey) Search(ctx context.Context, read Reader) {
	s.readProject(read)
	stems := topics(s.goal)
	if len(stems) < 2 {
		return
	}
	type file struct {
		path    string
		counts  []int
		phrases int
	}
	pairs := pairsOf(s.goal, stems)
	var files []file
	holding := make([]int, len(stems)) // files with the word
	for at, text := range s.Texts(ctx, read) {
		text = strings.ToLower(at + "\n" + text)
		f := file{path: at, counts: make([]int, len(stems))}
		for _, pair := range pairs {
			f.phrases += strings.Count(text, pair)
		}
		for i, stem := range stems {
			if f.counts[i] = strings.Count(text, stem); f.counts[i] > 0 {
				holding[i]++
			}
		}
		files = append(files, f)
	}
	if ctx.Err() != nil {
		return
	}
	changes := WantsChange(s.goal)
	score := func(f file) (sum float64, words int) {
		for i, n := range f.counts {
			if n > 0 {
				words++
				sum += math.Log(1+float64(len(files))/float64(holding[i])) * float64(n) / (float64(n) + 1)
			}
		}
		if changes && (testfile.Is(f.path) || slices.Contains(proseFiles, path.Ext(f.path))) {
			sum /= 2 // it says what the code does, and does not do it
		}
		return sum, words
	}
	slices.SortStableFunc(files, func(a, b file) int {
		x, _ := score(a)
		y, _ := score(b)
		return cmp.Compare(y, x)
	})
	best := 0.0
	for _, f := range files[:min(len(files), mostRelated)] {
		rank, words := score(f)
		if best = max(best, rank); words >= 2 && 2*words >= len(stems) && rank >= leastRank*best {
			s.facts.Related = append(s.facts.Related, f.path)
		}
	}
	if len(s.facts.Related) > 0 {
		return
	}
	asks := OnlyAsks(s.goal)
	for _, f := range files { // that hold two words in a row, or alone a word of a question
		alone := false
		for i, n := range f.counts {
			alone = alone || n > 0 && holding[i] == 1 && asks
		}
		if (f.phrases > 0 || alone) && len(s.facts.Related) < mostRelated {
			s.facts.Related = append(s.facts.Related, f.path)
		}
	}
}

// pairsOf returns the pairs of words that stand side by side in a goal and are topics.
func pairsOf(goal string, stems []string) []string {
	var pairs []string
	tokens := split(goal[:min(len(goal), mostWords)], 4*maxWords)
	about := func(t token) bool {
		return slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(t.key, stem) })
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i-1].after == "" && about(tokens[i-1]) && about(tokens[i]) {
			pairs = append(pairs, tokens[i-1].key+" "+tokens[i].key)
		}
	}
	return pairs
}

// Texts returns the files that a search looks through, and their texts: a bounded part of
// the workspace, the same for each goal. They end with ctx.
func (s *Survey) Texts(ctx context.Context, read Reader) iter.Seq2[string, string] {
	return func(yield func(at, text string) bool) {
		looked, measured, bytes := 0, 0, int64(0)
		for _, at := range s.files {
			if looked == mostSearched || measured == mostMeasured || bytes > relatedAll || ctx.Err() != nil {
				return
			}
			if _, known := languages[path.Ext(at)]; !known && (!slices.Contains(proseFiles, path.Ext(at)) || mayBeSecret.MatchString(at)) {
				continue
			}
			text, n := read(at, relatedFile)
			if measured++; n == 0 || n > relatedFile {
				continue
			}
			looked, bytes = looked+1, bytes+n
			if !yield(at, text) {
				return
			}
		}
	}
}

// mayBeSecret matches the paths of configurations that may hold passwords and keys: who
// does not name them does not want a model to read them.
var mayBeSecret = lazyregexp.New(`(?i)secret|credential|passw|api[_-]?key|service[_-]?account`)

// proseFiles are the extensions of files that describe a project or configure it.
var proseFiles = []string{".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg"}
