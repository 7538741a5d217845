package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// retry is the pause between two attempts to get a lock of another process.
const retry = 100 * time.Millisecond

var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// clone is the cached clone of a repository. It is bare, follows the repository's
// branches and tags, and never drops objects, since checkouts read them.
type clone struct {
	dir     string
	address string
	lock    *flock.Flock // held
}

// openClone locks the clone of a repository, and makes it if there is none. Call close
// in the end.
func openClone(ctx context.Context, cache, address string) (*clone, error) {
	sum := sha256.Sum256([]byte(address))
	place := filepath.Join(cache, "repositories", hex.EncodeToString(sum[:12]))
	c := &clone{dir: filepath.Join(place, "git"), address: address, lock: flock.New(filepath.Join(place, lockFile), flock.SetPermissions(0o600))}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the clone of %s: %w", shown(address), err)
	}
	if _, err := c.lock.TryLockContext(ctx, retry); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the clone of %s: %w", shown(address), err), c.lock.Close())
	}
	err := c.removeLocks()
	if _, missing := os.Stat(filepath.Join(c.dir, "HEAD")); err == nil && missing != nil {
		err = create(ctx, c.dir, "none", "")
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// folder returns the folder of the clone.
func (c *clone) folder() string { return c.dir }

func (c *clone) close() error { return c.lock.Close() }

// removeLocks removes git's own locks, which a killed process left behind: whoever
// holds the clone's lock is alone.
func (c *clone) removeLocks() error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return fmt.Errorf("open the clone of %s: %w", shown(c.address), err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	return fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("look into the clone of %s: %w", shown(c.address), err)
		case d.IsDir() && d.Name() == "objects":
			return fs.SkipDir
		case strings.HasSuffix(at, ".lock"):
			return root.Remove(at)
		default:
			return nil
		}
	})
}

// commit returns the commit that a revision names, or "" if it is not in the clone.
func (c *clone) commit(ctx context.Context, revision string) (string, error) {
	id, _, err := asks(ctx, "look for the revision "+revision, call{repository: c.dir, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}})
	return id, err
}

// resolve returns the commit of a revision, and fetches what is missing for it: "" is
// the default branch. In an empty repository it is "".
func (c *clone) resolve(ctx context.Context, revision string) (string, error) {
	if strings.HasPrefix(revision, "-") {
		return "", refused("the revision %.100q begins with a dash: name a branch, a tag or a commit", revision)
	}
	if revision == "" {
		out, err := git(ctx, "ask "+shown(c.address)+" for its default branch", call{repository: c.dir, remote: c.address, args: []string{"ls-remote", "--", c.address, "HEAD"}})
		if err != nil {
			return "", err
		}
		id, _, _ := strings.Cut(out, "\t")
		if !commitID.MatchString(id) {
			return "", nil // nothing was committed yet
		}
		revision = id
	}
	if c.isFixed(ctx, revision) {
		if id, err := c.commit(ctx, revision); err != nil || id != "" {
			return id, err
		}
	}
	if err := c.fetch(ctx, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); err != nil {
		return "", err
	}
	id, err := c.commit(ctx, revision)
	if err != nil || id != "" {
		return id, err
	}
	// Neither a branch nor a tag: perhaps no branch reaches the commit any more.
	switch {
	case commitID.MatchString(revision):
		err = c.fetch(ctx, revision)
	case strings.HasPrefix(revision, "refs/"):
		err = c.fetch(ctx, "+"+revision+":"+revision)
	}
	if err == nil {
		id, err = c.commit(ctx, revision)
	}
	if err == nil && id == "" {
		return "", refused("find the revision %.100s in %s: there is none of that name", revision, shown(c.address))
	}
	if err != nil {
		return "", fmt.Errorf("find the revision %.100s in %s: %w", revision, shown(c.address), err)
	}
	return id, nil
}

// isFixed reports whether a revision is a commit or a tag, which do not move.
func (c *clone) isFixed(ctx context.Context, revision string) bool {
	if commitID.MatchString(revision) {
		return true
	}
	tag := "refs/tags/" + strings.TrimPrefix(revision, "refs/tags/")
	_, err := git(ctx, "look for a tag", call{repository: c.dir, args: []string{"show-ref", "--verify", "--quiet", "--", tag}})
	return err == nil
}

func (c *clone) fetch(ctx context.Context, refspecs ...string) error {
	flags := []string{"fetch", "-q", "--prune", "--no-tags", "--no-write-fetch-head", "--", c.address}
	_, err := git(ctx, "fetch from "+shown(c.address), call{repository: c.dir, remote: c.address, args: append(flags, refspecs...)})
	return err
}
