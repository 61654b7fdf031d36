extension String {
    /// The text, or as much of its beginning as fits in `limit` bytes of UTF-8, followed by `…`.
    ///
    /// All code that quotes input uses this. A limit in characters would limit nothing, because a `Character` may have
    /// any number of code points: an `e` with a million accents is one character.
    package func shortened(toByteCount limit: Int) -> String {
        guard utf8.count > limit else { return self }
        return String(prefix(byteCount: limit)) + "…"
    }

    /// As much of the beginning as fits in `limit` bytes of UTF-8, cut between code points.
    package func prefix(byteCount limit: Int) -> Substring {
        guard utf8.count > limit else { return self[...] }
        var end = utf8.index(startIndex, offsetBy: limit)
        while utf8[end] & 0xc0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end]
    }
}
