package runner_test

import (
	"errors"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
)

// fakeStore is a store whose parts each test supplies as needed. Missing parts
// keep nothing.
type fakeStore struct {
	create        func(kind, id string) (runner.Journal, error)
	reopen        func(id string) (runner.Journal, []event.Event, error)
	save          func(plan.Plan) (plan.Plan, error)
	load          func(id string) (plan.Plan, error)
	list          func() ([]agent.Summary, error)
	conversations func() ([]session.Conversation, error)
	read          func(id string) ([]event.Event, error)
	durations     durations
}

// errNotKept is the error of the parts that a test does not supply.
var errNotKept = errors.New("not kept by this store")

// storeOf returns the store of a session under test.
func storeOf(c *runner.Config) *fakeStore { return c.Store.(*fakeStore) }

func (s *fakeStore) CreateJournal(kind, id string) (runner.Journal, error) {
	return s.create(kind, id)
}

func (s *fakeStore) ReopenRun(id string) (runner.Journal, []event.Event, error) {
	if s.reopen == nil {
		return nil, nil, errNotKept
	}
	return s.reopen(id)
}

func (s *fakeStore) ReadRun(id string) ([]event.Event, error) {
	if s.read == nil {
		return nil, errNotKept
	}
	return s.read(id)
}

func (s *fakeStore) RunSummaries() ([]agent.Summary, error) {
	if s.list == nil {
		return nil, nil
	}
	return s.list()
}

func (s *fakeStore) Conversations() ([]session.Conversation, error) {
	if s.conversations == nil {
		return nil, nil
	}
	return s.conversations()
}

// SavePlan returns the plan without an id unless the test supplies save.
func (s *fakeStore) SavePlan(p plan.Plan) (plan.Plan, error) {
	if s.save == nil {
		return p, nil
	}
	return s.save(p)
}

func (s *fakeStore) LoadPlan(id string) (plan.Plan, error) {
	if s.load == nil {
		return plan.Plan{}, errNotKept
	}
	return s.load(id)
}

func (s *fakeStore) MedianDurations() (map[string]int64, error) {
	return s.durations.medians, s.durations.err
}

func (s *fakeStore) RecallTools(_ string, c plan.Catalog) (plan.Catalog, error) {
	c = slices.Clone(c)
	for i := range c {
		c[i].Uses = 3
	}
	return c, s.durations.err
}

func (s *fakeStore) NoteCalls(folder string, _ plan.Catalog, calls []plan.HistoryItem) error {
	if s.durations.noted != nil {
		s.durations.noted(folder, calls)
	}
	return s.durations.err
}

func (s *fakeStore) AddDurations(samples map[string][]int64) error {
	if s.durations.add != nil {
		s.durations.add(samples)
	}
	return s.durations.err
}
