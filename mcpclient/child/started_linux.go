package child

import (
	"fmt"
	"os"
	"strings"
)

// started returns the start of a process as the boot and the clock tick. It
// returns "" if the process has ended.
func started(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The program's name is in brackets and may contain any character.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	const state, tick = 0, 19 // fields after the name
	fields := strings.Fields(rest)
	if len(fields) <= tick || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[tick]
}
