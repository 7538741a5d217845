package lsp_test

import "os"

func leadsSession() bool { return true }

func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
