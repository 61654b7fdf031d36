internal import TomboloModel

/// An operator on a property or on a value of the user. `$eq` and `%eq` are the same.
enum RuleOperator {
    case compare(Predicate.Comparison)
    case isIn(isNegated: Bool)
    case exists
    case not
    case and
    case or
    case nor

    init?(_ name: String) {
        switch name.dropFirst() {
        case "eq": self = .compare(.equal)
        case "ne": self = .compare(.notEqual)
        case "gt": self = .compare(.greater)
        case "gte": self = .compare(.greaterOrEqual)
        case "lt": self = .compare(.less)
        case "lte": self = .compare(.lessOrEqual)
        case "in": self = .isIn(isNegated: false)
        case "nin": self = .isIn(isNegated: true)
        case "exists": self = .exists
        case "not": self = .not
        case "and": self = .and
        case "or": self = .or
        case "nor": self = .nor
        default: return nil
        }
    }

    static let names = [
        "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$and", "$or", "$nor", "$not",
        "%stringToOid", "%oidToString", "%stringToUuid", "%uuidToString",
    ]

    /// The result type of each conversion. Values are converted to the property's type anyway, so a conversion only has
    /// to be possible.
    static let conversions: [String: PropertyType] = [
        "%stringToOid": .objectId, "%oidToString": .string, "%stringToUuid": .uuid, "%uuidToString": .string,
    ]

    /// The keys of MongoDB's extended JSON that wrap one value.
    static let wrappers: Set<String> = [
        "$oid", "$uuid", "$date", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal",
    ]
}
