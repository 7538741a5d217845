package rule

// OnlyReads returns the rule of side questions, which denies every call that may change
// something.
func OnlyReads() Rule {
	return Rule{
		Tool: "*", When: WhenEffects, Verdict: VerdictBlock, Source: SourceBuiltIn,
		Why: "a side question only reads",
	}
}
