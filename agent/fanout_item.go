package agent

import "replan/planning/plan"

// listItem ties the execution for one item of a list to the step with for_each.
type listItem struct {
	of       *StepState     // that step; nil for a step that is no item
	position int            // from 0
	content  any            // the item
	named    map[string]any // what args and expressions may name besides the variables of the run
	ended    bool           // it needs nothing more in this attempt of the step
	running  bool           // it is one of those that may run at once
	queued   bool           // it is in line to be one
}

// newListItem ties an item to its step. position counts from 0.
func newListItem(of *StepState, value any, position int) listItem {
	return listItem{of: of, position: position, content: value, named: of.Step.ForEach.ValuesFor(value, position)}
}

// owner returns the step that has the list; nil for a step that is no item.
func (i *listItem) owner() *StepState { return i.of }

// belongTo sets the step that has the list.
func (i *listItem) belongTo(of *StepState) { i.of = of }

// value returns the item; nil for a step that is no item.
func (i *listItem) value() any { return i.content }

// values returns what the args and expressions of an item may name besides the variables of
// the run.
func (i *listItem) values() map[string]any { return i.named }

// pretend lets a dry run name an item that is not known.
func (i *listItem) pretend(values map[string]any) { i.named = values }

// open lets an item run that has not ended.
func (i *listItem) open() { i.ended, i.running, i.queued = false, false, false }

// mayOvertake reports whether an item in line may take the turn of another one of its step.
func (i *listItem) mayOvertake() bool { return i.of.fanOut().overtaken() != nil }

// isBefore reports whether an item has the earlier place in the list.
func (i *listItem) isBefore(other *listItem) bool { return i.position < other.position }

// longestItem bounds what the title of an item shows of it, in characters.
const longestItem = 60

// itemWords names an item in a few words: text as it is, of an object its most telling field.
// It is "" for a list, and for an object without such a field.
func itemWords(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		return ""
	case map[string]any:
		for _, name := range []string{"path", "name", "title", "file", "id", "url", "key"} {
			if text, ok := v[name].(string); ok && text != "" {
				return text
			}
		}
		return ""
	}
	return plan.CanonicalJSON(value)
}
