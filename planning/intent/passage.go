package intent

import (
	"math"
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// The bounds of a passage, in lines.
const (
	longestMatch  = 4 // between its first and its last line with a word of the question
	mostFollowing = 2 // lines of what its last line opens or comments on
)

// writtenNumber matches whole numbers in a question.
var writtenNumber = lazyregexp.New(`\b\d+\b`)

// Passage is a part of a file that a step has read.
type Passage struct {
	Path string
	Line int // the first one, from 1
	Text string
}

// PassageFor returns the lines, of all files that the steps have read, that hold most of the
// words and numbers of a question. ok is false if no few lines hold half of them. Readers
// see from it whether the answer of a small model is right.
func PassageFor(question string, history []plan.HistoryItem) (best Passage, ok bool) {
	words := append(topics(question), writtenNumber.FindAllString(question, mostTopics)...)
	if len(words) < 2 || !OnlyAsks(question) {
		return Passage{}, false
	}
	type source struct {
		path  string
		lines []string
		holds [][]int // which words each line holds
	}
	var sources []source
	all, with := 0, make([]int, len(words)) // lines, and those that hold each word
	for _, item := range lastAttempts(history) {
		path, _ := item.Args["path"].(string)
		if item.Tool != "fs.read" || item.Status != plan.ItemCompleted || item.Args["offset"] != nil || path == "" {
			continue
		}
		text, isText := item.Result.(string)
		if !isText {
			text = string(item.Text)
		}
		s := source{path: path, lines: strings.Split(text, "\n")}
		for _, line := range s.lines {
			var holds []int
			lower := strings.ToLower(line)
			for i, word := range words {
				if strings.Contains(lower, word) {
					holds, with[i] = append(holds, i), with[i]+1
				}
			}
			s.holds, all = append(s.holds, holds), all+1
		}
		sources = append(sources, s)
	}
	most := 0.0
	for _, s := range sources {
		for first := range s.lines {
			var held []int
			for last := first; last < min(first+longestMatch, len(s.lines)); last++ {
				if strings.TrimSpace(s.lines[last]) == "" {
					break // a paragraph or a function ends here
				}
				held = slices.Compact(slices.Sorted(slices.Values(slices.Concat(held, s.holds[last]))))
				score := -0.1 * float64(last-first)
				for _, i := range held {
					score += math.Log(1 + float64(all)/float64(with[i]))
				}
				if score > most && len(held) >= 2 && 2*len(held) >= len(words) {
					most, ok = score, true
					from := opening(s.lines, first)
					best = Passage{s.path, from + 1, strings.Join(s.lines[from:opened(s.lines, last)], "\n")}
				}
			}
		}
	}
	return best, ok
}

// opening returns the start of a passage with this first line. It is the line that opens
// the block that it stands in, if that comes right before.
func opening(lines []string, first int) int {
	if first > 0 && opens(lines[first-1]) && indentation(lines[first-1]) < indentation(lines[first]) {
		return first - 1
	}
	return first
}

// opened returns the end of a passage with this last line: behind the first lines of what
// it opens or comments on.
func opened(lines []string, last int) int {
	end := last + 1
	if text := strings.TrimSpace(lines[last]); !opens(text) && !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "#") {
		return end
	}
	for end < len(lines) && end <= last+mostFollowing && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	return end
}

// opens reports whether a line of code opens a block.
func opens(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "{")
}

// indentation returns the blanks before the text of a line.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
