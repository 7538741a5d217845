package wording

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// InnerTitle names an item or a call below its step. Since the title of an item begins
// with that of its step, only the item is left, or what it is called with.
func InnerTitle(s, of *agent.StepState) string {
	title := s.Step.Title.Line()
	value, item := s.Item()
	if !item || of == nil {
		return title
	}
	title = strings.TrimPrefix(title, of.Step.Title.Line()+": ")
	switch value.(type) {
	case map[string]any, []any:
		if argument := MainArgument(s.Args); argument != "" && strings.HasPrefix(title, "item ") {
			return argument // the item itself has no name
		}
	}
	return title
}

// ItemCounts is how the items of a step stand.
type ItemCounts struct {
	All, Ended, Running                                               int
	Failed, Denied, Declined, Skipped, NotTaken, Doubt, Asks, Stopped int
}

// CountItems counts the items of a step.
func CountItems(s *agent.StepState) ItemCounts {
	c := ItemCounts{All: len(s.Items)}
	for _, item := range s.Items {
		if item.Status == agent.StepFailed && item.Failure == event.FailureInterrupted && s.Status == agent.StepPending { // its run was stopped
			c.Stopped++
			continue
		}
		switch item.Status {
		case agent.StepFailed:
			switch {
			case IsDeclined(item):
				c.Declined++
			case item.Failure == event.FailureDenied:
				c.Denied++
			default:
				c.Failed++
			}
		case agent.StepSkipped:
			if item.NotTaken {
				c.NotTaken++
			} else {
				c.Skipped++
			}
		case agent.StepInDoubt:
			c.Doubt++
		case agent.StepWaiting:
			c.Asks++
		case agent.StepRunning, agent.StepChecking:
			c.Running++
		}
		if item.Status.Ended() {
			c.Ended++
		}
	}
	return c
}

// Trouble lists what the plain number of ended items does not say: "1 failed, 2 not taken".
func (c ItemCounts) Trouble() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Asks, english.Agree(c.Asks, "asks", "ask") + " you"}, {c.Failed, "failed"}, {c.Denied, "denied"}, {c.Declined, "declined"}, {c.Doubt, "in doubt"}, {c.Skipped, "skipped"}, {c.NotTaken, "not taken"}, {c.Stopped, "stopped"}} {
		if p.n > 0 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// ItemsWords says how the items of a step stand: "3 items", "12 of 50 items, 1 failed".
func ItemsWords(s *agent.StepState) string {
	c := CountItems(s)
	words := english.Count(c.All, "item")
	if c.Ended < c.All {
		words = strconv.Itoa(c.Ended) + " of " + words
	}
	if trouble := c.Trouble(); trouble != "" {
		words += ", " + trouble
	}
	return words
}

// EachWords says which list a step runs through, and how: "${found.files} as file, at most
// 50, 2 at once". It returns "" for a step that runs once.
func EachWords(f *plan.ForEach) string {
	if f == nil {
		return ""
	}
	words := untrusted.Line(JSONText(f.Items, ""))
	switch items := f.Items.(type) {
	case string:
		words = untrusted.Line(items)
	case []any:
		if len(items) > longListed {
			words = english.Count(len(items), "item")
		}
	}
	if f.As != plan.DefaultAs {
		words += " as " + untrusted.Line(f.As)
	}
	if f.Max != plan.DefaultMax {
		words += ", at most " + strconv.Itoa(f.Max)
	}
	if f.AtOnce > 0 {
		words += ", " + strconv.Itoa(f.AtOnce) + " at once"
	}
	return words
}

// EstimateWords says before the run how many items a step of a plan will run for, such as "3
// items". It may say "at most 50 items, known once step 1 is done".
func EstimateWords(p plan.Plan, f *plan.ForEach) string {
	n, known, after := f.Estimate(p)
	switch {
	case known:
		return english.Count(n, "item")
	case after == "":
		return "at most " + english.Count(n, "item")
	default:
		return fmt.Sprintf("at most %s, known once %s is done", english.Count(n, "item"), StepWords(after))
	}
}

// ItemsLeftOut returns the items of a step that did not succeed, or may not have.
func ItemsLeftOut(s *agent.StepState) []*agent.StepState {
	var out []*agent.StepState
	for _, item := range s.Items {
		if item.Status.Ended() && item.Status != agent.StepCompleted && !item.NotTaken {
			out = append(out, item)
		}
	}
	return out
}

// ItemLines formats the items of a step, each with its name and its result. It returns
// nothing for a step without items.
func ItemLines(s *agent.StepState) (lines []string) {
	const most = 100 // of a value in JSON, in characters
	for _, item := range s.Items {
		head := item.Step.Name() + " " + InnerTitle(item, s) + ":"
		text, isText := item.Result.(string)
		text = strings.TrimRight(text, "\n")
		switch {
		case item.Status != agent.StepCompleted:
			lines = append(lines, head+" "+cmp.Or(item.Error.FirstLine(), string(item.Status)))
		case isText && strings.Contains(text, "\n"):
			lines = append(lines, head)
			for line := range strings.SplitSeq(text, "\n") {
				lines = append(lines, "  "+line)
			}
		case isText:
			lines = append(lines, head+" "+text)
		default:
			lines = append(lines, head+" "+cmp.Or(ResultWords(item.Result), Excerpt(untrusted.Text(plan.CanonicalJSON(item.Result)), most)))
		}
	}
	return lines
}

// leftOutWords names the items that completed steps of a run are without: "1 item failed:
// 2.2 b.go". It returns "" if there are none.
func leftOutWords(run *agent.Run) string {
	const most = 3
	var names []string
	if run == nil {
		return ""
	}
	for _, s := range run.Steps {
		if s.Status != agent.StepCompleted {
			continue
		}
		for _, item := range ItemsLeftOut(s) {
			names = append(names, item.Step.Name()+" "+InnerTitle(item, s))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return english.Count(len(names), "item") + " did not succeed: " + english.Some(names, most, "item")
}

// longListed is the number of items up to which a list is shown as it is written.
const longListed = 12
