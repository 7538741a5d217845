package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ProjectFile is the name of a project's own file of servers.
const ProjectFile = ".mcp.json"

// FindProject returns the path of the project's own file. It is the nearest one from the
// workspace up to the root of its repository, or "" if there is none. Outside of a
// repository, and in the home folder, only the workspace itself counts.
func FindProject(workspace, home string) string {
	workspace, home = filepath.Clean(workspace), filepath.Clean(home)
	nearest := ""
	for folder := workspace; folder == workspace || folder != home; folder = filepath.Dir(folder) {
		path := filepath.Join(folder, ProjectFile)
		if exists(path) && nearest == "" {
			nearest = path
		}
		if exists(filepath.Join(folder, ".git")) {
			return nearest
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	if nearest != filepath.Join(workspace, ProjectFile) {
		return ""
	}
	return nearest
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ReadProject reads the project's own file, if there is one. The folder of the file takes
// the place of the workspace. Servers start there, or in the folder that copied returns
// for it, unless that is nil.
func ReadProject(workspace, home string, copied func(folder string) string) (servers []Server, path string, err error) {
	path = FindProject(workspace, home)
	if path == "" {
		return nil, "", nil
	}
	folder := filepath.Dir(path)
	if copied == nil {
		copied = func(folder string) string { return folder }
	}
	servers, err = Read(path, SourceProject, copied(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil // it is a link to nothing, or was just removed
	}
	if folder == filepath.Clean(workspace) {
		return servers, path, err
	}
	for i, s := range servers {
		if s.Command != "" && !filepath.IsAbs(s.Dir) {
			servers[i].Dir = filepath.Join(copied(folder), s.Dir)
			shown := s.AsWritten()
			shown.Dir = filepath.Join(folder, s.Dir)
			servers[i].shown = &shown
		}
	}
	return servers, path, err
}
