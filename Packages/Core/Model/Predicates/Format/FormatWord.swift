/// The keywords of string predicates, in uppercase or lowercase. A property with such a name is written with a `#`.
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
