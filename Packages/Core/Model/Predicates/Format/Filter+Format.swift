extension Filter {
    /// Parses a string predicate on the objects of a class, in Realm's subset of the `NSPredicate` language:
    ///
    ///     name BEGINSWITH[c] %@ AND (ANY dogs.age > 3 OR owner == nil) AND SUBQUERY(dogs, $d, $d.age > 2).@count > 1
    ///
    /// - Parameters:
    ///   - format: the text, with `%@` for values, `%K` for key paths, or `$0`, `$1` … for numbered values.
    ///   - arguments: values, nil, objects, enumerations, and arrays or sets for IN and BETWEEN.
    ///   - className: the class whose properties are named.
    /// - Throws: ``FilterFormatError``, which says what is wrong and where.
    public init(
        parsing format: String, arguments: [Any?] = [], for className: String, in schema: Schema
    ) throws(FilterFormatError) {
        let text = Array(format.unicodeScalars)
        guard let item = schema[className] else {
            throw FilterFormatError("There is no class \(className) in the schema.", at: 0, of: text)
        }
        let syntax = try FormatParser.parse(text, arguments)
        self = try FormatBinder.bind(syntax, text, to: item, in: schema)
    }
}

extension Predicate {
    /// Parses a string predicate for a subscription or rule, which may only compare one object's properties with
    /// values. See ``Filter/init(parsing:arguments:for:in:)``.
    /// - Throws: ``FilterFormatError`` if the text can't be parsed, ``ValueError`` if the condition depends on other
    ///   objects.
    public init(parsing format: String, arguments: [Any?] = [], for className: String, in schema: Schema) throws {
        let filter = try Filter(parsing: format, arguments: arguments, for: className, in: schema)
        guard let item = schema[className] else { throw ValueError("There is no class \(className) in the schema.") }
        self = try filter.predicate(of: item)
    }
}
