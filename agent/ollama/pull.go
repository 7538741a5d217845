package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"
)

// Pull downloads a model to the server. It calls progress with the server's words
// for the current step and with the bytes downloaded and known of so far, from the
// calling goroutine. The total grows as the server learns of further parts.
//
// The server keeps what a pull that failed or was canceled has downloaded, so
// that the next one continues. An error says what to do, or wraps the error of
// ctx. Afterwards the client asks again about the model.
func (c *Client) Pull(ctx context.Context, name string, progress func(step string, done, total int64)) error {
	name = strings.TrimSpace(name)
	parts, succeeded := parts{}, false
	err := c.api.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
		succeeded = p.Status == "success"
		parts.take(p)
		done, total := parts.sum()
		progress(p.Status, done, total)
		return nil
	})
	if err == nil && !succeeded {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return c.unpulled(ctx, name, err)
	}
	c.forget(name)
	c.log.Info("a model was pulled", "model", name)
	return nil
}

// Remove deletes a model from the server. An error says what to do, or wraps the
// error of ctx. Afterwards the client asks again about the model, and which one
// answers if none is named.
func (c *Client) Remove(ctx context.Context, name string) error {
	if err := c.api.Delete(ctx, &api.DeleteRequest{Model: name}); err != nil {
		return c.unremoved(ctx, name, err)
	}
	c.forget(name)
	c.log.Info("a model was removed", "model", name)
	return nil
}

// parts holds the progress of each part of a model by its digest.
type parts map[string]api.ProgressResponse

// take records the progress of a part. The server reports some parts twice, first
// without a size.
func (p parts) take(of api.ProgressResponse) {
	if of.Digest != "" && of.Total > 0 {
		p[of.Digest] = of
	}
}

func (p parts) sum() (done, total int64) {
	for _, part := range p {
		done, total = done+min(part.Completed, part.Total), total+part.Total
	}
	return done, total
}

// forget discards what is known about a model that has changed on the server.
func (c *Client) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, tagged(name))
	if tagged(c.chosen) == tagged(name) {
		c.chosen = ""
	}
}

// unpulled returns the error for a failed pull.
func (c *Client) unpulled(ctx context.Context, name string, err error) error {
	switch code, _ := status(err); {
	case ctx.Err() != nil:
		return fmt.Errorf("pulling %s: %w", name, ctx.Err())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the Ollama at %s ended the download of %s early: pull it again, it continues where it stopped (%w)", c.base, name, err)
	case silent(err):
		return c.unreachable(err)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("the registry lets only some users pull %s: sign in with `ollama signin` (%w)", name, err)
	case (code == http.StatusNotFound || code == http.StatusMethodNotAllowed) && !missingModel(err):
		return fmt.Errorf("the server at %s cannot pull models: it is not Ollama or too old; update it (%w)", c.base, err)
	}
	words := strings.ToLower(err.Error())
	mentions := func(these ...string) bool { return containsAny(words, these...) }
	switch {
	case mentions("file does not exist", "manifest unknown", "not found"):
		return fmt.Errorf("the registry has no model %s: check its name and tag at ollama.com/search (%w)", name, err)
	case mentions("invalid model name", "invalid model path", "name is required"):
		return fmt.Errorf("%q is not a model name; example: %s (%w)", name, suggestion, err)
	case mentions("no space left", "not enough space", "disk quota", "enospc"):
		return fmt.Errorf("the disk of Ollama at %s is full: remove a model you do not use, then pull %s again (%w)", c.base, name, err)
	case mentions("newer version of ollama", "412"):
		return fmt.Errorf("the Ollama at %s is too old for %s: update it, or pull another model (%w)", c.base, name, err)
	case mentions("dial tcp", "no such host", "lookup ", "connection refused", "connection reset", "network is unreachable", "no route to host",
		"timeout", "timed out", "tls", "certificate", "proxyconnect", "max retries", "eof"):
		return fmt.Errorf("the Ollama at %s cannot reach the registry: check its network or proxy, then pull %s again (%w)", c.base, name, err)
	default:
		return fmt.Errorf("the Ollama at %s did not pull %s, its log may say more: %w", c.base, name, err)
	}
}

// unremoved returns the error for a model that was not removed.
func (c *Client) unremoved(ctx context.Context, name string, err error) error {
	switch code, _ := status(err); {
	case ctx.Err() != nil:
		return fmt.Errorf("removing %s: %w", name, ctx.Err())
	case silent(err):
		return c.unreachable(err)
	case missingModel(err):
		c.forget(name)
		return fmt.Errorf("the Ollama at %s has no model %s any more (%w)", c.base, name, err)
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return fmt.Errorf("the server at %s cannot remove models: it is not Ollama or too old; update it (%w)", c.base, err)
	default:
		return fmt.Errorf("the Ollama at %s did not remove %s, its log may say more: %w", c.base, name, err)
	}
}
