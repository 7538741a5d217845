package trust_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"replan/mcpclient"
)

var gopls = mcpclient.Program{Name: "gopls", Command: "/usr/bin/gopls", Args: []string{"serve"}, Question: "Start gopls", Why: "it reads code"}

func TestProgramStartsAfterApproval(t *testing.T) {
	t.Parallel()
	dir, trustFile := t.TempDir(), filepath.Join(t.TempDir(), "allowed.json")
	open := func(mode mcpclient.TrustMode) *mcpclient.Pool {
		return newPool(t, mcpclient.Config{Dir: dir, TrustFile: trustFile, Trust: mode})
	}
	p := open(mcpclient.TrustAsk)
	changed := make(chan struct{}, 8)
	p.Watch(func() { changed <- struct{}{} })
	for range 2 {
		if p.MayStart(gopls) {
			t.Fatal("the program may start before the answer")
		}
	}
	<-changed
	asked := p.Pending()
	if len(asked) != 1 || asked[0].Name != "gopls" || asked[0].Command[0] != "/usr/bin/gopls" || asked[0].Question != "Start gopls" {
		t.Fatalf("got questions %+v", asked)
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	if !p.MayStart(gopls) || len(p.Pending()) != 0 {
		t.Error("the approval has no effect")
	}
	if !open(mcpclient.TrustNone).MayStart(gopls) {
		t.Error("the approval was not saved")
	}
	other := gopls
	other.Command = "/opt/gopls"
	if open(mcpclient.TrustNone).MayStart(other) {
		t.Error("the approval applies to another program")
	}
}

func TestDeniedProgramIsNotAskedAboutAgain(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Dir: t.TempDir(), Trust: mcpclient.TrustAsk})
	p.MayStart(gopls)
	if err := p.Answer(t.Context(), p.Pending(), false); err != nil {
		t.Fatal(err)
	}
	if p.MayStart(gopls) || len(p.Pending()) != 0 {
		t.Error("the pool asks the user again")
	}
}

func TestOfferIsRepeatedUntilItIsDeclinedOrSucceeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		yes     bool
		outcome error
		again   int // questions at the next start
	}{
		"declined":              {false, nil, 0},
		"installed":             {true, nil, 0},
		"failed or interrupted": {true, errors.New("killed"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir, trustFile := t.TempDir(), filepath.Join(t.TempDir(), "allowed.json")
			open := func(mode mcpclient.TrustMode) *mcpclient.Pool {
				return newPool(t, mcpclient.Config{Dir: dir, TrustFile: trustFile, Trust: mode})
			}
			ran := make(chan struct{}, 8)
			run := func(context.Context) error { ran <- struct{}{}; return c.outcome }
			p := open(mcpclient.TrustAsk)
			p.Offer(gopls, run)
			if got := len(p.Pending()); got != 1 {
				t.Fatalf("got %d questions", got)
			}
			if err := p.Answer(t.Context(), p.Pending(), c.yes); err != nil {
				t.Fatal(err)
			}
			if c.yes {
				<-ran
			}
			if err := p.Close(); err != nil || len(ran) > 0 {
				t.Fatalf("ran %d times more: %v", len(ran), err)
			}
			p = open(mcpclient.TrustAsk)
			p.Offer(gopls, run)
			if got := len(p.Pending()); got != c.again {
				t.Errorf("next start: got %d questions, want %d", got, c.again)
			}
			if got, want := p.Accepted(gopls), c.yes && c.outcome == nil; got != want {
				t.Errorf("accepted: got %v, want %v", got, want)
			}
			elsewhere := newPool(t, mcpclient.Config{Dir: t.TempDir(), TrustFile: trustFile})
			if elsewhere.Accepted(gopls) {
				t.Error("the yes counts in another folder")
			}
		})
	}
}

func TestProgramsAreAskedAboutOnTheScreenOnly(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Dir: t.TempDir(), Trust: mcpclient.TrustAskServers})
	p.Offer(gopls, func(context.Context) error { return nil })
	if p.MayStart(gopls) || len(p.Pending()) > 0 {
		t.Errorf("got questions %+v", p.Pending())
	}
}
