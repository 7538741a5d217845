package records

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
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
		needs.Set("model", t.Needs.Model)
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
	if t.Needs.Model != "" && !slices.Contains(w.Models, t.Needs.Model) {
		missing = append(missing, "the model "+t.Needs.Model)
	}
	if from := t.Source.Repository; from != "" && !slices.ContainsFunc(w.Sources, func(pattern string) bool { return covers(pattern, from) }) {
		missing = append(missing, "the repository "+from)
	}
	return missing
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
