//go:build !unix

package crash

const watches = false

func ignoreSignals() {}
