package runner

import (
	"cmp"
	"context"
	"errors"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// chooser carries out the user's choices of model, profile and thinking level, in their
// order. A choice that changes the model waits until it was looked up.
type chooser struct {
	events     *publisher
	background *background
	model      Model
	settings   *settings
	overview   *overview
	warmer     *warmer
	saver      *saver

	waiting []session.Choose
	stop    context.CancelFunc // ends the lookup; nil if there is none
}

// choose takes a choice.
func (h *chooser) choose(ctx context.Context, c session.Choose) {
	h.waiting = append(h.waiting, c)
	h.applyNext(ctx)
}

// looking reports whether a model is being looked up.
func (h *chooser) looking() bool { return h.stop != nil }

// cancel ends the lookup.
func (h *chooser) cancel() {
	if h.stop != nil {
		h.stop()
	}
}

// clear drops the choices that wait, when the session ends.
func (h *chooser) clear() { h.waiting = nil }

// applyNext applies the waiting choices, up to one that needs a lookup.
func (h *chooser) applyNext(ctx context.Context) {
	for len(h.waiting) > 0 && h.stop == nil {
		c := h.waiting[0]
		h.waiting = h.waiting[1:]
		m, err := h.settings.with(c)
		if err != nil {
			h.events.note("warn", err.Error())
			_ = h.events.publish(session.Chosen{Choice: session.Choice(c), Problem: untrusted.Text(err.Error())})
			continue
		}
		if c.Model == nil && m.name() == h.settings.model() && (c.Planner == nil || *c.Planner == "") {
			h.settings.adopt(m)
			h.overview.publishStatus()
			_ = h.events.publish(session.Chosen{Choice: session.Choice(c)})
			h.saveChoice(c)
			continue
		}
		var looking context.Context
		looking, h.stop = context.WithCancel(ctx)
		h.background.run(func() func() {
			info, err := h.model.Describe(looking, m.name())
			if err == nil && c.Planner != nil && *c.Planner != "" {
				_, err = h.model.Describe(looking, *c.Planner)
			}
			return func() { h.found(ctx, c, m, info, err) }
		})
	}
}

// found adopts the selection m that a choice leads to after its model was looked up,
// then continues with the remaining choices.
func (h *chooser) found(ctx context.Context, c session.Choose, m selection, info prompt.ModelInfo, err error) {
	h.stop()
	h.stop = nil
	chosen := session.Chosen{Choice: session.Choice(c), Info: info}
	switch {
	case errors.Is(err, context.Canceled):
		chosen.Problem = "stopped: nothing was chosen"
		h.events.note("info", string(chosen.Problem))
	case err != nil:
		chosen.Problem = untrusted.Text("nothing was chosen: " + err.Error())
		h.events.note("warn", string(chosen.Problem))
	default:
		h.settings.adopt(m.as(info.Name))
		if h.overview.use(info) {
			h.warmer.cooled() // no request has gone to this model yet
		}
		h.overview.publishStatus()
		h.saveChoice(c)
	}
	_ = h.events.publish(chosen)
	h.applyNext(ctx)
}

// hold sets whether later plans wait for review, also in later sessions.
func (h *chooser) hold(on bool) {
	h.settings.hold(on)
	h.overview.publishStatus()
	if on {
		h.saver.save("screen.review", new("true"), false)
	} else {
		h.saver.save("screen.review", nil, false)
	}
}

// saveChoice saves a choice that the session has adopted. Choices under a profile belong to
// it, and are not saved.
func (h *chooser) saveChoice(c session.Choose) {
	if h.settings.profile() != "" {
		return
	}
	if c.Model != nil {
		h.saver.save("model.name", nonEmpty(h.settings.model()), false)
	}
	if c.Planner != nil {
		h.saver.save("planning.planner_model", nonEmpty(*c.Planner), false)
	}
	if c.Think != nil {
		h.saver.save("model.think", new(cmp.Or(string(*c.Think), "auto")), false)
	}
}

// nonEmpty returns a pointer to a text, nil for an empty one.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
