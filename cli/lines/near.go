package lines

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"replan/agent/event"
	"replan/cli/app"
	"replan/internal/untrusted"
	"replan/planning/intent"
)

// meant asks which of the orders that a refusal names was meant. Without one, it returns the
// end of the job.
func (job Job) meant(ctx context.Context, a *app.App, input *app.Input, refusal event.ChatReply, written error) (order string, end error) {
	if input == nil || job.Remote != nil || written != nil || len(refusal.Near) == 0 {
		return "", Ended(a, refusal, written)
	}
	order, rest, err := askNear(ctx, input, refusal)
	switch {
	case ctx.Err() != nil:
		return "", endedEarly(ctx)
	case err != nil || order != "":
		return order, err
	}
	refusal.Text = cmp.Or(rest, refusal.Text)
	return "", Ended(a, refusal, nil)
}

// askNear asks which of the orders that a refusal names was meant, until the answer is the
// number of one or none of them. It returns that order, "" for none, and the words of the
// refusal that the question did not say.
func askNear(ctx context.Context, input *app.Input, refusal event.ChatReply) (order string, rest untrusted.Text, err error) {
	said, after, _ := strings.Cut(refusal.Text.Visible(), untrusted.Visible(intent.DidYouMean(refusal.Near)))
	var question strings.Builder
	question.WriteString(said + intent.DidYouMean(nil) + "\n")
	for i, text := range refusal.Near {
		fmt.Fprintf(&question, "  [%d] %s\n", i+1, untrusted.Line(text))
	}
	question.WriteString("its number, or [enter] for none: ")
	for {
		answer, err := input.Ask(ctx, question.String())
		if err != nil {
			return "", "", err
		}
		if n, err := strconv.Atoi(answer); err == nil && n > 0 && n <= len(refusal.Near) {
			return refusal.Near[n-1], "", nil
		}
		if answer == "" || answer == "n" || answer == "no" || answer == "0" {
			return "", untrusted.Text(strings.TrimSpace(after)), nil
		}
	}
}
