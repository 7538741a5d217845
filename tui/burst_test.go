package tui_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/panetest"
)

// awaiting opens a screen on which a letter that is an answer waits for another one.
func awaiting(t *testing.T, width, height int) *screen {
	t.Helper()
	s := &screen{t: t, session: newFakeSession()}
	pauses := shortPauses
	pauses.Answer = 1
	s.m = tui.New(s.session, tui.Options{Pauses: pauses})
	s.m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// pause lets the wait for another letter end, or the grace time.
func (s *screen) pause() {
	for _, over := range []tea.Msg{s.m.Rested(), s.m.ReviewRested()} {
		_, cmd := s.m.Update(over)
		s.carryOut(cmd)
	}
}

// play presses letters. A dot is a pause that lets an answer act, and ↵, ⎋, ↓ and ⌫
// are keys that type nothing.
func (s *screen) play(sequence string) *screen {
	for _, r := range sequence {
		if r == '.' {
			s.pause()
			continue
		}
		key := map[rune]tea.KeyPressMsg{'↵': enter, '⎋': escape, '↓': downKey, '⌫': {Code: tea.KeyBackspace}}[r]
		if key.Code == 0 {
			key = letters(string(r))[0]
		}
		_, cmd := s.m.Update(key)
		s.carryOut(cmd)
	}
	return s
}

// TestLettersAtDialogThatOpenedByItself: a letter alone answers, and two different ones
// in a row are a text.
func TestLettersAtDialogThatOpenedByItself(t *testing.T) {
	resolve := func(d event.Decision, scope event.Scope) []any {
		return []any{session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: d, Scope: scope}}
	}
	once := resolve(event.Allow, event.ScopeOnce)
	fails := func(d event.FailureDecision) []any {
		return []any{session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: d}}
	}
	doubts := func(d event.DoubtDecision) []any {
		return []any{session.ResolveDoubt{Run: panetest.StoryPlanRun, Step: "3", Decision: d}}
	}
	gate, failure, doubt := (*story).Gated, (*story).Failing, (*story).Resumed
	for name, c := range map[string]struct {
		at    func(*story) *story
		keys  string
		sends []any
		typed string
	}{
		"yes to a gate":                        {at: gate, keys: "y.", sends: once},
		"yes before the pause":                 {at: gate, keys: "y"},
		"yes and enter":                        {at: gate, keys: "y↵", sends: once},
		"yes and enter, once only":             {at: gate, keys: "y↵.", sends: once},
		"yes too soon after help":              {at: gate, keys: "?qy.", typed: "?qy"},
		"yes after help":                       {at: gate, keys: "?.q.y.", sends: once},
		"for the run":                          {at: gate, keys: "r.", sends: resolve(event.Allow, event.ScopeRun)},
		"no twice in a row":                    {at: gate, keys: "nn.↵", sends: resolve(event.Deny, event.ScopeOnce)},
		"yes taken back by esc":                {at: gate, keys: "y⎋."},
		"yes taken back by an arrow":           {at: gate, keys: "y↓."},
		"yes after an arrow":                   {at: gate, keys: "↓y.", sends: once},
		"yes after a pause from scrolling":     {at: gate, keys: "jj.y.", sends: once},
		"yes too soon after scrolling":         {at: gate, keys: "jjy."},
		"yes after the details":                {at: gate, keys: "i.y.", sends: once},
		"a rename at a gate":                   {at: gate, keys: "rename Session to Visit.", typed: "rename Session to Visit"},
		"two letters at a gate":                {at: gate, keys: "yn.", typed: "yn"},
		"an answer twice, then another letter": {at: gate, keys: "rry.", typed: "rry"},
		"a text that begins with a view key":   {at: gate, keys: "improve it.", typed: "improve it"},
		"a text that begins with no action":    {at: gate, keys: "write tests.", typed: "write tests"},
		"a text and a pause in it":             {at: gate, keys: "rename.a.↓.", sends: nil, typed: "rename"},
		"a text after a pause in it":           {at: gate, keys: "rename. all.", typed: "rename all"},
		"an erased letter":                     {at: gate, keys: "re⌫.", typed: "r"},
		"an answer after a text":               {at: gate, keys: "re.y.", sends: once, typed: "re"},
		"retry":                                {at: failure, keys: "r.", sends: fails(event.FailureRetry)},
		"skip and enter":                       {at: failure, keys: "s↵", sends: fails(event.FailureSkip)},
		"a new goal at a failure":              {at: failure, keys: "add tests for Label.", typed: "add tests for Label"},
		"a rename at a failure":                {at: failure, keys: "rename it.", typed: "rename it"},
		"a capital at a failure":               {at: failure, keys: "Add it.", typed: "Add it"},
		"done":                                 {at: doubt, keys: "d.", sends: doubts(event.DoubtDone)},
		"abort":                                {at: doubt, keys: "a.", sends: doubts(event.DoubtAbort)},
		"a new goal at a doubt":                {at: doubt, keys: "add it.", typed: "add it"},
		"rerun, then another letter":           {at: doubt, keys: "ra.", typed: "ra"},
	} {
		t.Run(name, func(t *testing.T) {
			s := awaiting(t, 120, 60).show(c.at(newStory())).play("." + c.keys)
			s.sent(c.sends...)
			if got := s.m.Typed(); got != c.typed {
				t.Errorf("the input holds %q, want %q", got, c.typed)
			}
		})
	}
}

// TestDifferentLettersInARowDecideNothing: whatever they are, and also if they come
// while the input has no keys.
func TestDifferentLettersInARowDecideNothing(t *testing.T) {
	at := map[string]func(*story) *story{
		"a gate": (*story).Gated, "a gate with a rule": (*story).Revised, "several gates": func(s *story) *story { return s.Abreast("1", "2") },
		"servers": (*story).Servers, "a failure": (*story).Failing, "a doubt": (*story).Resumed, "a review": (*story).Reviewing,
	}
	names := slices.Sorted(maps.Keys(at))
	rapid.Check(t, func(r *rapid.T) {
		s := awaiting(t, 120, 60)
		for range rapid.IntRange(0, 2).Draw(r, "tabs") {
			s.m.Update(tabKey)
		}
		s.show(at[rapid.SampledFrom(names).Draw(r, "dialog")](newStory()))
		letters := rapid.StringMatching(`[yrnaeAispdjkgG?KJxu qt1/@]{2,8}`).
			Filter(func(l string) bool { return strings.Trim(l, l[:1]) != "" }).Draw(r, "letters")
		s.play("." + letters + ".")
		for _, c := range s.session.commands() {
			switch c.(type) {
			case session.Resolve, session.ResolveFailure, session.ResolveDoubt, session.Review:
				r.Fatalf("%q sends %#v", letters, c)
			}
		}
	})
}

// TestAnswerThatWaitsIsShownAtOnce: its row stays as wide as it was.
func TestAnswerThatWaitsIsShownAtOnce(t *testing.T) {
	for _, c := range []struct {
		at            func(*story) *story
		key, was, now string
	}{
		{(*story).Gated, "y", "y allow once", "y▌allow once"},
		{(*story).Failing, "r", "r retry", "r▌retry"},
		{(*story).Reviewing, "y", "y run ", "y▌run "},
	} {
		s := awaiting(t, 120, 36).show(c.at(newStory())).play(".")
		before := s.text()
		s.wants(c.was)
		s.play(c.key).wants(c.now)
		if got := strings.Replace(s.text(), c.now, c.was, 1); got != before {
			t.Errorf("%s moves the screen:\n%s", c.key, s.text())
		}
	}
}

// TestSecondYesMayWaitToo: a call that was not in view needs two, with a pause between.
func TestSecondYesMayWaitToo(t *testing.T) {
	once := session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce}
	for keys, sends := range map[string][]any{"y..y.": {once}, "yy.": nil, "yy..y.": {once}, "y..yes.": nil} {
		s := awaiting(t, 80, 24).show(newStory().Gated()).play("." + keys)
		s.sent(sends...)
	}
	s := awaiting(t, 120, 60).show(newStory().Revised()).play(".a.")
	s.wants("Allow always")
	s.play(".y")
	s.sent()
	s.play(".")
	if got := s.session.commands(); len(got) != 1 {
		t.Errorf("the saved rule sends %v", got)
	}
}

func TestPasteAtDialogThatOpenedByItselfIsText(t *testing.T) {
	for keys, want := range map[string]string{"": "y", "r": "ry", "ad": "ady"} {
		s := awaiting(t, 120, 60).show(newStory().Gated()).play("." + keys)
		s.m.Update(tea.PasteMsg{Content: "y"})
		s.play(".").sent()
		if got := s.m.Typed(); got != want {
			t.Errorf("after %q the input holds %q, want %q", keys, got, want)
		}
	}
}

func TestAnswerToDialogOpenedByKeyDoesNotWait(t *testing.T) {
	for name, open := range map[string]string{"gate": ".⎋", "gate in its first moment": ""} {
		t.Run(name, func(t *testing.T) {
			s := awaiting(t, 120, 60).show(newStory().Gated()).play(open)
			s.m.Update(ctrl('g'))
			s.play("y").sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
		})
	}
}

// TestAnswerThatWaitsIsForWhatIsShown: it goes to no other gate, and a click takes its
// place.
func TestAnswerThatWaitsIsForWhatIsShown(t *testing.T) {
	st := newStory().Abreast("1", "2")
	s := awaiting(t, 120, 60).show(st).play(".y")
	s.show(more(st).Run(event.GateResolved{Gate: "1.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"})).play(".")
	s.sent()
	s.play("n.↵").sent(session.Resolve{Run: panetest.StoryRun, Gate: "2.1.1", Decision: event.Deny, Scope: event.ScopeOnce})

	st = newStory().Gated()
	s = awaiting(t, 120, 60).show(st).play(".y")
	s.show(more(st).Run(event.GateResolved{Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"})).play(".").sent()

	s = awaiting(t, 120, 60).show(newStory().Gated()).play(".y")
	_, cmd := s.m.Update(tea.MouseClickMsg(left(s.find("n deny"))))
	s.carryOut(cmd)
	s.play(".↵").sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce})
}

// TestTextTypedAtDialogIsShownInFooter: the dialog hides the input.
func TestTextTypedAtDialogIsShownInFooter(t *testing.T) {
	const long = "rename authenticate to verifyUser in each of the files, and in the tests and the docs"
	for text, want := range map[string]string{"add it": "In the input, not an answer: add it", long: long[len(long)-40:]} {
		s := awaiting(t, 80, 24).show(newStory().Gated()).play("." + text)
		lines := s.lines()
		if got := lines[len(lines)-1]; !strings.HasSuffix(got, want) {
			t.Errorf("the last line is %q, want %q", got, want)
		}
	}
}
