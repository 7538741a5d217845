package runner

import (
	"context"
	"time"

	"replan/planning/plan"
)

// scout finds out what a session works with, to show it.
type scout struct {
	model      Model
	tools      Tools
	within     time.Duration // how long servers may take to start, unless they say more
	background *background
	overview   *overview
	warmer     *warmer
}

// discover looks up first the model, then the tools, whose servers may have to start.
func (s *scout) discover(ctx context.Context) {
	t := s.overview.jobConfig()
	s.overview.findBranch(ctx)
	s.background.run(func() func() {
		info, err := s.model.Describe(ctx, t.model)
		s.background.report(func() {
			s.overview.foundModel(t.model, info, err)
			s.overview.foundTools(nil)
			s.warmer.expect(ctx)
		})
		within, cancel := context.WithTimeout(ctx, plan.ServerWait(s.within, s.tools.Status(), nil))
		defer cancel()
		all := s.tools.Ready(within)
		if all == nil {
			all = plan.Catalog{} // known to be empty
		}
		return func() {
			s.overview.foundTools(all)
			s.warmer.expect(ctx)
		}
	})
}
