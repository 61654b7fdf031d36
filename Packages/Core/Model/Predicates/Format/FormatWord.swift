/// The words of the language of string predicates, in any case of letters. As a property's name, a word needs `#` before
/// it.
enum FormatWord: String, CaseIterable {
    case and, or, not
    case any, all
    case someOf = "some"
    case noneOf = "none"
    case `in`, between, contains
    case beginsWith = "beginswith"
    case endsWith = "endswith"
    case like, matches
    case truePredicate = "truepredicate"
    case falsePredicate = "falsepredicate"
    case `true`, `false`, yes, no, null, `nil`
    case `self`
    case subquery
}
