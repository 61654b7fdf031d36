extension String {
    /// The text, with a full stop unless it already ends a sentence. For a reason at the end of a longer message.
    package var sentence: String {
        last.map { ".!?…".contains($0) } == true ? self : self + "."
    }
}
