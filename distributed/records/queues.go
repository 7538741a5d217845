package records

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
	"replan/planning/prompt"
)

// queuePrefix begins the names of all queues of runs. What follows says what a worker
// must offer, so that each worker knows the queues that it can serve.
const queuePrefix = "run?"

const (
	// pace is the shortest pause between two looks of a worker into a queue.
	pace = 100 * time.Millisecond
	// perWorker is the number of runs of a queue that a worker takes, unless the queue
	// was given another limit.
	perWorker = 10
)

// QueueOf returns the name of the queue of a task.
func QueueOf(t remote.Task) string {
	needs := url.Values{}
	servers := slices.Clone(t.Needs.Servers)
	slices.Sort(servers)
	for _, server := range slices.Compact(servers) {
		needs.Add("server", server)
	}
	if t.Needs.Model != "" {
		needs.Set("model", prompt.TaggedName(t.Needs.Model))
	}
	if t.Source.Repository != "" {
		needs.Set("source", t.Source.Repository)
	}
	return queuePrefix + needs.Encode()
}

// NeedsOf returns what a queue's runs need, as a task with nothing else, and whether
// the queue is one of runs.
func NeedsOf(queue string) (t remote.Task, ok bool) {
	encoded, ok := strings.CutPrefix(queue, queuePrefix)
	if !ok {
		return t, false
	}
	needs, err := url.ParseQuery(encoded)
	if err != nil {
		return t, false
	}
	t.Needs = remote.Needs{Servers: needs["server"], Model: needs.Get("model")}
	t.Source.Repository = needs.Get("source")
	return t, true
}

// Lacks returns what a worker lacks for a task, in a few words each; nil is nothing.
func Lacks(w remote.Worker, t remote.Task) []string {
	var missing []string
	for _, server := range t.Needs.Servers {
		if !slices.Contains(w.Servers, server) {
			missing = append(missing, "the MCP server "+server)
		}
	}
	if model := t.Needs.Model; model != "" && !slices.ContainsFunc(w.Models, func(offered string) bool { return prompt.SameModel(offered, model) }) {
		missing = append(missing, "the model "+model)
	}
	if from := t.Source.Repository; from != "" && !slices.ContainsFunc(w.Sources, func(pattern string) bool { return covers(pattern, from) }) {
		missing = append(missing, "the repository "+from)
	}
	return missing
}

// CheckPattern refuses a pattern that covers no repository.
func CheckPattern(pattern string) error {
	switch {
	case strings.HasPrefix(pattern, "-") || strings.ContainsFunc(pattern, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), pattern == "":
		return fmt.Errorf("the repository pattern %.80q covers no repository: write a URL or an absolute path", pattern)
	case strings.Contains(strings.TrimSuffix(pattern, "*"), "*"):
		return fmt.Errorf("the repository pattern %.80q has a * before its end, where it stands for no other text", pattern)
	default:
		return nil
	}
}

// covers reports whether a pattern covers a repository. A * at its end stands for any
// text.
func covers(pattern, repository string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(repository, prefix)
	}
	return pattern == repository
}

// EnsureQueue creates the queue of a task, unless there is one. Its limits stay.
func EnsureQueue(ctx context.Context, client dbos.Client, t remote.Task) (string, error) {
	name := QueueOf(t)
	_, err := dbos.RegisterQueue(client, name, dbos.WithWorkerConcurrency(perWorker), dbos.WithQueueBasePollingInterval(pace), dbos.WithQueueOnConflict(dbos.QueueConflictNeverUpdate))
	if err != nil {
		return "", fmt.Errorf("create the queue of the run: %w", err)
	}
	return name, ctx.Err()
}

// Limits are limits of a queue to set; nil leaves one as it is, and 0 removes it.
type Limits struct {
	AtOnce    *int // runs under way on all workers
	PerWorker *int
	Rate      *int // runs started in Period
	Period    time.Duration
}

// Set sets limits of a queue.
func (l Limits) Set(client dbos.Client, queue dbos.Queue) error {
	none := func(n *int) *int {
		if *n == 0 {
			return nil
		}
		return n
	}
	var errs []error
	if now := queue.GetWorkerConcurrency(); l.PerWorker == nil && l.AtOnce != nil && *l.AtOnce > 0 && now != nil && *now > *l.AtOnce {
		l.PerWorker = l.AtOnce // it cannot be more
	}
	if l.PerWorker != nil {
		errs = append(errs, queue.SetWorkerConcurrency(client, none(l.PerWorker)))
	}
	if l.AtOnce != nil {
		errs = append(errs, queue.SetGlobalConcurrency(client, none(l.AtOnce)))
	}
	if l.Rate != nil {
		var rate *dbos.RateLimiter
		if *l.Rate > 0 {
			rate = &dbos.RateLimiter{Limit: *l.Rate, Period: l.Period}
		}
		errs = append(errs, queue.SetRateLimit(client, rate))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("set the limits of the queue: %w", err)
	}
	return nil
}

// Queue is a queue of runs.
type Queue struct {
	dbos.Queue
	Waiting, Running int // runs
}

// Needs says what its runs need, in a few words.
func (q Queue) Needs() string {
	task, _ := NeedsOf(q.GetName())
	if all := Lacks(remote.Worker{}, task); all != nil {
		return "runs that need " + strings.Join(all, ", ")
	}
	return "runs that need nothing special"
}

// Limits says which limits it has, in a few words that begin with a comma.
func (q Queue) Limits() string {
	text := ""
	if n := q.GetGlobalConcurrency(); n != nil {
		text += fmt.Sprintf(", at most %d at once", *n)
	}
	if n := q.GetWorkerConcurrency(); n != nil {
		text += fmt.Sprintf(", at most %d a worker", *n)
	}
	if r := q.GetRateLimit(); r != nil {
		text += fmt.Sprintf(", at most %d in %s", r.Limit, r.Period)
	}
	return text
}
