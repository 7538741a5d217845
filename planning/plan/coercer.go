package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// alternative is another way to read a value of the args.
type alternative struct {
	at       []string
	from, to any
	dropped  bool // it is left out
}

// applied returns a value with parts of it read in another way. Readings in the same
// value do not overlap, and none is inside another. depth is how deep in the
// args the value is. It changes neither v nor the values in it.
func applied(v any, readings []alternative, depth int) any {
	if len(readings) == 1 && len(readings[0].at) == depth {
		return readings[0].to
	}
	var set func(key string, inside []alternative)
	switch old := v.(type) {
	case map[string]any:
		object := maps.Clone(old)
		v, set = object, func(key string, inside []alternative) {
			if inside[0].dropped && len(inside[0].at) == depth+1 {
				delete(object, key)
			} else if value, ok := old[key]; ok {
				object[key] = applied(value, inside, depth+1)
			}
		}
	case []any:
		list := slices.Clone(old)
		v, set = list, func(key string, inside []alternative) {
			i, err := strconv.Atoi(key)
			if leaves := inside[0].dropped && len(inside[0].at) == depth+1; err == nil && 0 <= i && i < len(old) && !leaves {
				list[i] = applied(old[i], inside, depth+1)
			}
		}
	default:
		return v
	}
	for len(readings) > 0 {
		key, n := readings[0].at[depth], 1
		for n < len(readings) && readings[n].at[depth] == key {
			n++
		}
		set(key, readings[:n])
		readings = readings[n:]
	}
	return v
}

// refusal is a complaint of a schema about args.
type refusal struct {
	at     []string
	key    string // equal for equal complaints
	choice string // the outermost anyOf or oneOf that it is part of; "" for none
	list   bool   // it wants a list
	listed []any  // the values it wants one of; nil for others
}

// complaintKey returns a text equal for equal complaints.
func complaintKey(e *jsonschema.ValidationError) string {
	key := JSONPointer("", e.InstanceLocation...) + " " + e.SchemaURL
	if of, ok := e.ErrorKind.(*kind.Required); ok {
		key += " " + strings.Join(of.Missing, " ")
	}
	return key
}

// isChoice reports whether a complaint is that no form of an anyOf or oneOf fits.
func isChoice(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return true
	}
	return false
}

// refusals lists the single complaints in one, by place.
func refusals(complaint *jsonschema.ValidationError) []refusal {
	if complaint == nil {
		return nil
	}
	var all []refusal
	var collect func(e *jsonschema.ValidationError, choice string)
	collect = func(e *jsonschema.ValidationError, choice string) {
		if isChoice(e) && choice == "" {
			choice = complaintKey(e)
		}
		for _, cause := range e.Causes {
			collect(cause, choice)
		}
		if len(e.Causes) == 0 {
			r := refusal{at: e.InstanceLocation, key: complaintKey(e), choice: choice}
			switch of := e.ErrorKind.(type) {
			case *kind.Type:
				r.list = slices.Contains(of.Want, "array")
			case *kind.Enum:
				r.listed = of.Want
			}
			all = append(all, r)
		}
	}
	collect(complaint, "")
	slices.SortStableFunc(all, func(a, b refusal) int { return slices.Compare(a.at, b.at) })
	return all
}

// coercer looks for the readings of args that their schema accepts.
type coercer struct {
	signature *Signature
	unknown   func(text string) bool // a text that stands for a value still unknown
	shapes    bool                   // scalars stay as they are
	args      any
	complaint *jsonschema.ValidationError // about args
	refused   []refusal                   // the parts of complaint
	keys      map[string]bool             // the keys of refused
	lists     map[string]bool             // the places where a list is wanted
	words     map[string][]any            // the values of which one is wanted, by place
	taken     [][]alternative             // one after the other
	changed   map[string]bool             // the places of values with a reading taken inside
	work      int                         // how many complaints were read
}

// mostWork bounds how many complaints are read to fit values one by one. Each attempt
// checks all args, which may be a long list of faults.
const mostWork = 16_384

// coerce returns the readings of args that the schema accepts, those found one after the other.
func (f *coercer) coerce(args any) [][]alternative {
	f.args, f.changed = args, make(map[string]bool)
	f.take()
	f.coerceAll()
	f.coerceEach()
	f.coerceChoices()
	if holdsUnusualNumber(f.args) && !f.shapes {
		if whole := f.signature.wholeNumbers(f.args); len(whole) > 0 {
			f.taken = append(f.taken, whole)
		}
	}
	return f.taken
}

// take reads values in another way, from now on.
func (f *coercer) take(readings ...alternative) {
	if len(readings) > 0 {
		f.args = applied(f.args, readings, 0)
		f.taken = append(f.taken, readings)
	}
	for _, r := range readings {
		for n := range r.at {
			f.changed[JSONPointer("", r.at[:n]...)] = true
		}
	}
	f.complaint = f.signature.complaint(f.args)
	f.refused = refusals(f.complaint)
	f.keys, f.lists = make(map[string]bool), make(map[string]bool)
	f.words = make(map[string][]any)
	for _, r := range f.refused {
		f.keys[r.key] = true
		place := JSONPointer("", r.at...)
		if r.list {
			f.lists[place] = true
		}
		f.words[place] = append(f.words[place], r.listed...)
	}
}

// attempt is a fit that resolves complaints about its places and those of a choice;
// "" for no choice.
type attempt struct {
	choice   string
	readings []alternative
}

// failed reports which attempts, all made at once, do not resolve their complaints.
// others reports whether there is another complaint that was not there before.
func (f *coercer) failed(attempts []attempt) (failed map[int]bool, others bool) {
	at, choices := make(map[string][]int), make(map[string][]int)
	for i, a := range attempts {
		if a.choice != "" {
			choices[a.choice] = append(choices[a.choice], i)
		}
		for _, r := range a.readings {
			place := JSONPointer("", r.at...)
			at[place] = append(at[place], i)
		}
	}
	now := refusals(f.signature.complaint(applied(f.args, together(attempts), 0)))
	f.work += 1 + len(now)
	failed = make(map[int]bool)
	for _, r := range now {
		blamed := [][]int{choices[r.choice]}
		for n := range len(r.at) + 1 {
			blamed = append(blamed, at[JSONPointer("", r.at[:n]...)])
		}
		for _, i := range slices.Concat(blamed...) {
			failed[i] = true
		}
		others = others || !slices.ContainsFunc(blamed, func(b []int) bool { return len(b) > 0 }) && !f.keys[r.key]
	}
	return failed, others
}

// together returns the readings of attempts by place, each once.
func together(attempts []attempt) []alternative {
	var all []alternative
	for _, a := range attempts {
		all = append(all, a.readings...)
	}
	slices.SortStableFunc(all, func(a, b alternative) int { return slices.Compare(a.at, b.at) })
	return slices.CompactFunc(all, func(a, b alternative) bool { return slices.Equal(a.at, b.at) })
}

// accepted reports whether readings resolve all complaints about their places and of
// a choice, and cause no others.
func (f *coercer) accepted(choice string, readings ...alternative) bool {
	failed, others := f.failed([]attempt{{choice, readings}})
	return len(failed) == 0 && !others
}

// isBelow reports whether a place is another one, or in the value there.
func isBelow(at, other []string) bool {
	return len(at) >= len(other) && slices.Equal(at[:len(other)], other)
}

// nested reports whether one of the readings, in order, is inside another.
func nested(readings []alternative) bool {
	for i := 1; i < len(readings); i++ {
		if isBelow(readings[i].at, readings[i-1].at) {
			return true
		}
	}
	return false
}

// places lists the places that a choice, or "" for none, complains about, each once.
func (f *coercer) places(choice string) [][]string {
	var places [][]string
	for _, r := range f.refused {
		if r.choice == choice {
			places = append(places, r.at)
		}
	}
	return slices.CompactFunc(places, slices.Equal)
}

// coerceAll coerces all values at once that can be read in one other way alone.
func (f *coercer) coerceAll() {
	var attempts []attempt
	var collect func(e *jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		if !isChoice(e) && len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				collect(cause)
			}
			return
		}
		if f.work > mostWork {
			return
		}
		if readings, o := f.needed(e); o == determined {
			a := attempt{readings: readings}
			if isChoice(e) {
				a.choice = complaintKey(e)
			}
			attempts = append(attempts, a)
		}
	}
	if f.complaint != nil {
		collect(f.complaint)
	}
	// Those that fail by themselves must not keep the others from being fitted.
	for range 2 {
		if len(attempts) == 0 || nested(together(attempts)) {
			return
		}
		failed, others := f.failed(attempts)
		if len(failed) == 0 {
			if !others {
				f.take(together(attempts)...)
			}
			return
		}
		var left []attempt
		for i, a := range attempts {
			if !failed[i] {
				left = append(left, a)
			}
		}
		attempts = left
	}
}

// outlook says what can be done about a complaint.
type outlook int

const (
	determined outlook = iota // certain readings resolve it, and nothing less
	ambiguous                 // several readings might
	hopeless                  // none can
)

// needed returns the readings without which a complaint stays.
func (f *coercer) needed(e *jsonschema.ValidationError) ([]alternative, outlook) {
	if len(e.Causes) == 0 {
		readings := f.readings(e.InstanceLocation)
		_, ofType := e.ErrorKind.(*kind.Type)
		switch {
		case len(readings) == 1:
			return readings, determined
		case len(readings) == 0 && ofType:
			return nil, hopeless
		}
		return nil, ambiguous
	}
	var parts []attempt
	for _, cause := range e.Causes {
		readings, o := f.needed(cause)
		switch {
		case o == ambiguous, o == hopeless && !isChoice(e):
			return nil, o
		case o == determined:
			parts = append(parts, attempt{readings: readings})
		}
	}
	if len(parts) == 0 {
		return nil, hopeless
	}
	if !isChoice(e) {
		return together(parts), determined
	}
	for _, p := range parts[1:] {
		if !slices.EqualFunc(p.readings, parts[0].readings, func(a, b alternative) bool { return slices.Equal(a.at, b.at) }) {
			return nil, ambiguous
		}
	}
	return parts[0].readings, determined
}

// coerceEach coerces the values that are refused whatever the others are.
func (f *coercer) coerceEach() {
	for _, at := range f.places("") {
		if f.work > mostWork {
			return
		}
		readings := slices.DeleteFunc(f.readings(at), func(r alternative) bool { return !f.accepted("", r) })
		if len(readings) == 1 {
			f.take(readings[0])
		}
	}
}

// coerceChoices coerces the values that make their part of the args one of the forms that it
// may have. It coerces as few of them as possible, in the one way there is.
func (f *coercer) coerceChoices() {
	var choices []string
	seen := make(map[string]bool)
	for _, r := range f.refused {
		if r.choice != "" && !seen[r.choice] {
			choices = append(choices, r.choice)
			seen[r.choice] = true
		}
	}
	for _, choice := range choices {
		if f.work > mostWork {
			return
		}
		found := f.combinations(choice)
		slices.SortStableFunc(found, func(a, b []alternative) int { return len(a) - len(b) })
		if len(found) == 1 || len(found) > 1 && len(found[0]) < len(found[1]) {
			f.take(found[0]...)
		}
	}
}

// mostCombinations bounds how many combinations of readings are tried.
const mostCombinations = 32

// combinations lists the readings that together resolve a choice; none if they are
// too many to try. None of them is inside another: in a value that became a list, its
// place would mean another one.
func (f *coercer) combinations(choice string) (found [][]alternative) {
	var places [][]alternative
	count := 1
	for _, at := range f.places(choice) {
		if readings := f.readings(at); len(readings) > 0 {
			places = append(places, readings)
			count *= len(readings) + 1
		}
		if count > mostCombinations {
			return nil
		}
	}
	var try func(rest [][]alternative, chosen []alternative)
	try = func(rest [][]alternative, chosen []alternative) {
		if len(rest) == 0 {
			if len(chosen) > 0 && !nested(chosen) && f.accepted(choice, chosen...) {
				found = append(found, chosen)
			}
			return
		}
		try(rest[1:], chosen)
		for _, r := range rest[0] {
			try(rest[1:], append(slices.Clone(chosen), r))
		}
	}
	try(places, nil)
	return found
}

// readings lists the other readings of the value at a place.
func (f *coercer) readings(at []string) []alternative {
	value, there := valueAt(f.args, at)
	if text, ok := value.(string); !there || len(at) == 0 || ok && f.unknown(text) || holdsStandIn(value) {
		return nil
	}
	parent, _ := valueAt(f.args, at[:len(at)-1])
	_, inObject := parent.(map[string]any)
	if value == nil {
		if inObject && !f.shapes {
			return []alternative{{at: at, dropped: true}}
		}
		return nil
	}
	var all []alternative
	other, ok := otherReading(value)
	if ok && !f.shapes {
		all = append(all, alternative{at: at, from: value, to: other})
	}
	place := JSONPointer("", at...)
	if word, ok := respelled(value, f.words[place]); ok && !f.shapes {
		all = append(all, alternative{at: at, from: value, to: word})
	}
	if inside := insideOf(value); inside != nil && inObject {
		all = append(all, alternative{at: at, from: value, to: inside})
	}
	if words, ok := f.signature.commandWords(at[0], value); ok && len(at) == 1 {
		return []alternative{{at: at, from: value, to: words}}
	}
	// An item of a list may also be a sign that the list itself is one of lists. A
	// list or object written as text could mean a list of that text, or itself. The
	// readings taken inside a value are found by their place in it.
	if !inObject || !f.lists[place] || f.changed[place] || isJSONText(value) {
		return all
	}
	alone := alternative{at: at, from: value, to: []any{value}}
	if ok && !f.shapes && !f.accepted("", alone) {
		alone.to = []any{other}
	}
	return append(all, alone)
}

// respelled is the one listed word that is a text in other capital or small letters, or a
// boolean. ok is false if there is none, or more than one.
func respelled(value any, listed []any) (word string, ok bool) {
	text, isText := value.(string)
	if truth, isBoolean := value.(bool); isBoolean {
		text, isText = strconv.FormatBool(truth), true
	}
	for _, l := range listed {
		if w, isWord := l.(string); isText && isWord && w != text && w != word && strings.EqualFold(w, text) {
			if ok {
				return "", false
			}
			word, ok = w, true
		}
	}
	return word, ok
}
