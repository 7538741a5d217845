package mcpclient_test

import (
	"context"
	"path/filepath"
	"testing"

	"replan/mcpclient"
)

var gopls = mcpclient.Program{Name: "gopls", Command: "/usr/bin/gopls", Args: []string{"serve"}, Question: "Start gopls", Why: "it reads code"}

func TestProgramStartsAfterAYesThatNamesIt(t *testing.T) {
	dir, yeses := t.TempDir(), filepath.Join(t.TempDir(), "allowed.json")
	open := func(mode mcpclient.TrustMode) *mcpclient.Pool {
		return newPool(t, mcpclient.Config{Dir: dir, TrustFile: yeses, Trust: mode})
	}
	p := open(mcpclient.TrustAsk)
	changed := make(chan struct{}, 8)
	p.Watch(func() { changed <- struct{}{} })
	for range 2 {
		if p.MayStart(gopls) {
			t.Fatal("it may start before the question is answered")
		}
	}
	<-changed
	asked := p.Pending()
	if len(asked) != 1 || asked[0].Name != "gopls" || asked[0].Command[0] != "/usr/bin/gopls" || asked[0].Question != "Start gopls" {
		t.Fatalf("asked %+v", asked)
	}
	if err := p.Answer(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if !p.MayStart(gopls) || len(p.Pending()) != 0 {
		t.Error("the yes does not count")
	}
	if !open(mcpclient.TrustNone).MayStart(gopls) {
		t.Error("the yes is not remembered")
	}
	other := gopls
	other.Command = "/opt/gopls"
	if open(mcpclient.TrustNone).MayStart(other) {
		t.Error("the yes counts for another program")
	}
}

func TestDeniedProgramIsNotAskedAboutAgain(t *testing.T) {
	p := newPool(t, mcpclient.Config{Dir: t.TempDir(), Trust: mcpclient.TrustAsk})
	p.MayStart(gopls)
	if err := p.Answer(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if p.MayStart(gopls) || len(p.Pending()) != 0 {
		t.Error("it is asked about again")
	}
}

func TestOfferIsMadeOnce(t *testing.T) {
	dir, yeses := t.TempDir(), filepath.Join(t.TempDir(), "allowed.json")
	ran := make(chan struct{}, 8)
	run := func(context.Context) { ran <- struct{}{} }
	for i, answer := range []bool{false, true} {
		p := newPool(t, mcpclient.Config{Dir: dir, TrustFile: yeses, Trust: mcpclient.TrustAsk})
		p.Offer(gopls, run)
		if got := len(p.Pending()); got != 1-i {
			t.Fatalf("start %d asks %d questions", i, got)
		}
		if err := p.Answer(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
	}
	if len(ran) != 0 {
		t.Error("a denied offer was carried out")
	}
	p := newPool(t, mcpclient.Config{Dir: dir, Trust: mcpclient.TrustAsk})
	p.Offer(gopls, run)
	if err := p.Answer(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	<-ran
}
