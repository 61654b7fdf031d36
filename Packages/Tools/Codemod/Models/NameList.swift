/// Reads the property names that `primaryKey()`, `indexedProperties()` and `ignoredProperties()` return.
enum NameList {
    /// A name written as a string or as `#keyPath(Dog.name)`.
    static func name(_ source: SourceText, _ value: Range<Int>) -> String? {
        if value.count == 1 { return source.literal(value.lowerBound) }
        guard source.isToken(value.lowerBound, "#keyPath"), source.isToken(value.lowerBound + 1, "("),
            source.next(value.lowerBound + 1) == value.upperBound
        else { return nil }
        return source.name(value.upperBound - 2)
    }

    /// The names in `["a", "b"]`, even if the array is appended to `super`'s. Nil for anything that can't be read
    /// without running it.
    static func names(_ source: SourceText, _ body: Range<Int>) -> Set<String>? {
        var names: Set<String> = []
        var token = body.lowerBound
        while token < body.upperBound {
            if source.isToken(token, "#keyPath") {
                let end = source.next(token + 1)
                guard let name = name(source, token..<end) else { return nil }
                names.insert(name)
                token = end
            } else if let name = source.literal(token) {
                names.insert(name)
                token += 1
            } else if source.isToken(token, "super") {
                guard source.isToken(token + 1, "."), source.isToken(token + 3, "("), source.isToken(token + 4, ")")
                else { return nil }
                token += 5
            } else if ["return", "[", "]", ",", "+"].contains(source.text(token)) {
                token += 1
            } else {
                return nil
            }
        }
        return names
    }
}
