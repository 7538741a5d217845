// Package box contains child processes. In a box they write only to the workspace,
// caches of their own and temporary folders. They reach no socket of other programs
// of the user, and without network they reach nothing else either. Only Linux has
// boxes.
//
// A child begins as this very program. It restricts itself with Landlock, seccomp and,
// where the kernel allows them, namespaces. Then it becomes the program that was meant.
// What it starts is in the same box.
//
// It imports nothing else of replan. Start reading at [New] for the program, at
// [Main] for the child; kernel_linux.go has the restrictions.
package box
