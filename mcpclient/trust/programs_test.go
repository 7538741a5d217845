package trust_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"replan/mcpclient/trust"
)

var formatter = trust.Program{Name: "formatter", Command: "/usr/bin/formatter", Question: "Start formatter"}

func programs(file, workspace string, mode trust.Mode) *trust.Programs {
	return trust.NewPrograms(trust.NewConsent(file), workspace, mode, slog.New(slog.DiscardHandler))
}

func TestProgramIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	p := programs(filepath.Join(t.TempDir(), "allowed.json"), "/w", trust.Ask)
	for _, asks := range []bool{true, false} {
		if allowed, again := p.MayStart(formatter); allowed || again != asks {
			t.Errorf("allowed %t, a new question %t, want %t", allowed, again, asks)
		}
	}
	asked := p.Pending()
	if len(asked) != 1 || asked[0].Question != formatter.Question {
		t.Fatalf("got %+v", asked)
	}
	allowed, declined, run := p.Answer(asked, true)
	if len(allowed) != 1 || len(declined)+len(run) > 0 {
		t.Errorf("to remember: %v, %v", allowed, declined)
	}
	if now, asks := p.MayStart(formatter); !now || asks || len(p.Pending()) > 0 {
		t.Errorf("after the yes: allowed %t, asks %t", now, asks)
	}
}

func TestOfferCountsOnceItsWorkSucceeded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "allowed.json")
	for _, outcome := range []error{errors.New("no network"), nil} {
		p := programs(file, "/w", trust.Ask)
		if !p.Offer(formatter, func(context.Context) error { return outcome }) {
			t.Fatal("the offer is not made again")
		}
		_, _, run := p.Answer(p.Pending(), true)
		if len(run) != 1 {
			t.Fatalf("%d offers to carry out", len(run))
		}
		run[0](t.Context())
		if got := p.Accepted(formatter); got != (outcome == nil) {
			t.Errorf("after %v: accepted %t", outcome, got)
		}
	}
	if programs(file, "/other", trust.Ask).Offer(formatter, nil) {
		t.Error("an accepted offer is made again elsewhere")
	}
}

func TestNobodyIsAskedWhereOnlyServersAre(t *testing.T) {
	t.Parallel()
	for _, mode := range []trust.Mode{trust.AskServers, trust.None} {
		p := programs("", "/w", mode)
		if allowed, asks := p.MayStart(formatter); allowed || asks || len(p.Pending()) > 0 {
			t.Errorf("mode %d: allowed %t, asks %t", mode, allowed, asks)
		}
	}
}
