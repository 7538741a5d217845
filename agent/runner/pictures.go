package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/picture"
	"replan/planning/prompt"
)

// pictures takes the pictures that messages attach.
type pictures struct {
	model Model
	kept  AttachmentStore // the journal of the session; nil leaves them where they are
	log   *slog.Logger
}

// newPictures returns what takes the pictures of a session with that journal.
func newPictures(model Model, journal Journal, log *slog.Logger) pictures {
	kept, _ := journal.(AttachmentStore)
	return pictures{model, kept, log}
}

// take keeps the pictures of a message that the model by that name will answer. It fails
// if the model cannot see them, or there is none.
func (p pictures) take(ctx context.Context, model string, mentions []prompt.Mention) ([]prompt.Mention, error) {
	attached := prompt.WithPictures(mentions)
	if len(attached) == 0 {
		return mentions, nil
	}
	if len(attached) > prompt.MaxPictures {
		return nil, fmt.Errorf("nothing was sent, because a message attaches at most %d pictures: leave some of the %d out", prompt.MaxPictures, len(attached))
	}
	info, err := p.model.Describe(ctx, model)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("stopped before it started")
	case errors.Is(err, prompt.ErrNoModel):
		return nil, fmt.Errorf("no model sees %[1]s: %[2]w; or leave %[1]s out", namesOf(attached), err)
	case err == nil && !info.Vision:
		return nil, errors.New(p.unseen(ctx, info.Name, attached))
	}
	return keepPictures(p.kept, mentions)
}

// unseen says that a model cannot see what a message attaches, and what to do.
func (p pictures) unseen(ctx context.Context, model string, attached []prompt.Mention) string {
	return fmt.Sprintf("%s cannot see pictures: use a model with vision (%s), or leave %s out", model, p.others(ctx), namesOf(attached))
}

// aModelThatSees is one that sees pictures, calls tools, and fits ordinary machines.
const aModelThatSees = "qwen3-vl:4b"

// others names models that see pictures: those that are installed, or else one to install.
func (p pictures) others(ctx context.Context) string {
	var names []string
	if server, ok := p.model.(ModelLister); ok {
		all, err := server.Models(ctx)
		if err != nil {
			p.log.Warn("models that see pictures", "error", err)
		}
		for _, m := range all {
			if m.Vision && m.Chats {
				names = append(names, m.Name)
			}
		}
	}
	const few = 3
	switch {
	case len(names) == 0:
		return "such as " + aModelThatSees + ", with `ollama pull " + aModelThatSees + "`"
	case len(names) > few:
		return "installed: " + strings.Join(names[:few], ", ") + " and others"
	default:
		return "installed: " + english.List(names, "and")
	}
}

// namesOf lists what mentions name, as a message names it.
func namesOf(mentions []prompt.Mention) string {
	names := make([]string, len(mentions))
	for i, m := range mentions {
		names[i] = prompt.NameOf(m.Name)
	}
	return english.List(names, "and")
}

// keepPictures returns mentions whose pictures are kept in a store, which may be nil.
func keepPictures(store AttachmentStore, mentions []prompt.Mention) ([]prompt.Mention, error) {
	if store == nil {
		return mentions, nil
	}
	mentions = slices.Clone(mentions)
	for i, m := range mentions {
		if m.Picture == nil {
			continue
		}
		content, err := picture.Read(m.Picture.File, m.Picture.SHA256)
		if err != nil {
			return nil, fmt.Errorf("keep the picture %s: %w", m.Name, err)
		}
		kept := *m.Picture
		if kept.Attachment, err = store.SaveAttachment(content, kept.Type); err != nil {
			return nil, fmt.Errorf("keep the picture %s: %w", m.Name, err)
		}
		mentions[i].Picture = &kept
	}
	return mentions, nil
}

// routing returns how the goal of a prepared job is planned. What is in a picture only a
// model sees, so words alone do not plan a goal with one, if there is a model.
func (p preparedJob) routing(configured event.Routing) event.Routing {
	routing := p.jobConfig.routing(configured, p.facts)
	if routing.Planner == event.PlannerAuto && p.info.Name != "" && len(prompt.WithPictures(p.job.Mentions)) > 0 {
		routing.Planner = event.PlannerPhases
	}
	return routing
}

// unseen says which models of a prepared job cannot see the pictures of its goal; "" if
// all can that read it. They go on without: what they cannot see, they are told.
func (p preparedJob) unseen() string {
	attached := prompt.WithPictures(p.job.Mentions)
	if p.job.Resume != "" {
		attached = prompt.WithPictures(p.past.started().Prompting.Mentions)
	}
	if len(attached) == 0 || p.info.Name == "" {
		return ""
	}
	if !p.info.Vision {
		return fmt.Sprintf("%s cannot see %s, and goes on without", p.info.Name, namesOf(attached))
	}
	var blind []string
	p.models.Each(func(m *prompt.PlanModel) {
		if !m.Vision && !slices.Contains(blind, m.Name) {
			blind = append(blind, m.Name)
		}
	})
	if len(blind) == 0 {
		return ""
	}
	return fmt.Sprintf("%s cannot see %s, and %s without; %s, which answers, sees %s",
		english.List(blind, "and"), namesOf(attached), english.Agree(len(blind), "plans", "plan"), p.info.Name, english.Agree(len(attached), "it", "them"))
}
