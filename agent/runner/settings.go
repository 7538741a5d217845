package runner

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// settings holds what the next run starts with: as configured, and as the user chose.
type settings struct {
	profiles []Profile        // to choose from
	base     prompt.Prompting // without a profile, and without the conversation
	chosen   selection
	review   bool // plans wait for review
}

// selection is the user's choice of profile, model and thinking level.
type selection struct {
	profile *Profile // nil: none
	model   *string  // nil: the profile's; "": the first model of the server that supports tools
	think   *prompt.ThinkLevel
	planner *string // the model that plans; nil: as configured, "": the one that answers
}

// newSettings returns the settings of a new session.
func newSettings(base prompt.Prompting, profiles []Profile, profile string, review bool) (*settings, error) {
	s := &settings{profiles: profiles, base: base, review: review}
	var err error
	s.chosen.profile, err = s.find(profile)
	return s, err
}

// model returns the requested model, "" for the server's choice.
func (s *settings) model() string { return s.chosen.name() }

func (m selection) name() string {
	switch {
	case m.model != nil:
		return *m.model
	case m.profile != nil:
		return m.profile.Model
	default:
		return ""
	}
}

// as returns the selection with the server's name for the chosen model.
func (m selection) as(name string) selection {
	if m.model != nil && *m.model != "" {
		m.model = &name
	}
	return m
}

// profile returns the name of the profile, "" for none.
func (s *settings) profile() string {
	if s.chosen.profile == nil {
		return ""
	}
	return s.chosen.profile.Name
}

// prompting returns what shapes the requests, without the conversation, and the patterns
// of the tools on offer; nil is every tool.
func (s *settings) prompting() (prompting prompt.Prompting, tools []string) {
	prompting = s.base
	if p := s.chosen.profile; p != nil {
		prompting, tools = p.Prompting, p.Tools
	}
	if s.chosen.think != nil {
		prompting.Think = *s.chosen.think
	}
	if s.chosen.planner != nil {
		prompting.Models = prompt.Models{Planner: prompt.PlanModel{Name: *s.chosen.planner}}
	}
	return prompting, tools
}

// reviews reports whether plans wait for review.
func (s *settings) reviews() bool { return s.review }

// hold sets whether later plans wait for review.
func (s *settings) hold(on bool) { s.review = on }

// with returns the selection after a choice.
func (s *settings) with(c session.Choose) (selection, error) {
	m := s.chosen
	if c.Profile != nil {
		profile, err := s.find(*c.Profile)
		if err != nil {
			return m, err
		}
		if profile != nil && profile.Model != "" || m.profile != nil && m.profile.Model != "" {
			m.model = nil // a model chosen for one profile does not apply to the other
		}
		m.profile = profile
	}
	if c.Model != nil {
		m.model = c.Model
	}
	if c.Think != nil {
		m.think = c.Think
	}
	if c.Planner != nil {
		m.planner = c.Planner
	}
	return m, nil
}

// adopt makes m the selection from the next run on; the current run keeps its own.
func (s *settings) adopt(m selection) { s.chosen = m }

// find returns the profile with the given name, nil for "".
func (s *settings) find(name string) (*Profile, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for i, p := range s.profiles {
		if p.Name == name {
			return &s.profiles[i], nil
		}
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no profile %q: define one in [profiles] of the configuration", name)
	}
	return nil, fmt.Errorf("there is no profile %q; there are %s", name, strings.Join(names, ", "))
}

// choices lists the profiles.
func (s *settings) choices() (list []session.ProfileChoice) {
	for _, p := range s.profiles {
		list = append(list, session.ProfileChoice{Name: p.Name, Description: untrusted.Text(p.Description)})
	}
	return list
}

// unmatched returns the patterns of the user's profiles that match no tool, by the name
// of the profile, in the order of profiles.
func (s *settings) unmatched(all plan.Catalog) (profiles []string, patterns map[string]string) {
	patterns = map[string]string{}
	for _, p := range s.profiles {
		none := slices.DeleteFunc(slices.Clone(p.Tools), func(pattern string) bool {
			only := prompt.Profile{Tools: []string{pattern}}
			return slices.ContainsFunc(all, only.May)
		})
		if len(none) > 0 && !p.BuiltIn {
			profiles, patterns[p.Name] = append(profiles, p.Name), strings.Join(none, ", ")
		}
	}
	return profiles, patterns
}
