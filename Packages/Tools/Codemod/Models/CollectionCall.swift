/// `List<Dog>()`, `RealmOptional<Int>(5)`, `LinkingObjects(fromType: …)`: a Realm type and the arguments it is
/// created with.
struct CollectionCall {
    /// For example `List`, without `RealmSwift.`.
    let name: String
    /// The type as written, with its generic arguments, or nil if those are left out.
    let type: Range<Int>?
    /// The generic arguments without `<` and `>`.
    let element: Range<Int>?
    /// The tokens between the parentheses.
    let arguments: Range<Int>

    static let names: Set<String> = ["List", "MutableSet", "Map"]
    static let boxes: Set<String> = ["RealmOptional", "RealmProperty"]

    /// Parses an expression that is exactly such a call.
    init?(_ source: SourceText, _ value: Range<Int>) {
        var token = value.lowerBound
        if source.isToken(token, "RealmSwift") || source.isToken(token, "Tombolo"), source.isToken(token + 1, ".") {
            token += 2
        }
        guard let name = source.name(token) else { return nil }
        guard let after = source.afterGenericArguments(token + 1), source.isToken(after, "("),
            source.next(after) == value.upperBound
        else { return nil }
        self.name = name
        type = after > token + 1 ? value.lowerBound..<after : nil
        element = after > token + 1 ? token + 2..<after - 1 : nil
        arguments = after + 1..<value.upperBound - 1
    }

    /// The type's name in an annotation such as `RealmSwift.List<Dog>`, and its generic arguments. Nil for any other
    /// annotation.
    static func annotation(_ source: SourceText, _ type: Range<Int>) -> (name: String, element: Range<Int>)? {
        var token = type.lowerBound
        if source.isToken(token, "RealmSwift") || source.isToken(token, "Tombolo"), source.isToken(token + 1, ".") {
            token += 2
        }
        guard let name = source.name(token), source.isToken(token + 1, "<"),
            source.afterGenericArguments(token + 1) == type.upperBound
        else { return nil }
        return (name, token + 2..<type.upperBound - 1)
    }
}
