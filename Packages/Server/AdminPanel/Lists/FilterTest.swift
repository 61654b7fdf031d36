import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

/// What a filter of a list can test, in everyday words. These are JSON:API's operators, except that "is missing"
/// becomes two tests without a value.
enum FilterTest: String, CaseIterable {
    case eq, ne, contains, startsWith, lt, le, gt, ge
    case `in`
    case isNull, isNotNull

    private var filterOperator: ResourceFilter.Operator {
        self == .isNotNull ? .isNull : ResourceFilter.Operator(rawValue: rawValue) ?? .eq
    }

    var takesValue: Bool { self != .isNull && self != .isNotNull }

    var isTime: Bool { [.lt, .le, .gt, .ge].contains(self) }

    func title(isTime: Bool) -> String {
        switch self {
        case .eq: localized("is")
        case .ne: localized("is not")
        case .contains: localized("contains")
        case .startsWith: localized("starts with")
        case .lt: isTime ? localized("is before") : localized("is less than")
        case .le: isTime ? localized("is not after") : localized("is at most")
        case .gt: isTime ? localized("is after") : localized("is more than")
        case .ge: isTime ? localized("is not before") : localized("is at least")
        case .in: localized("is one of")
        case .isNull: localized("is empty")
        case .isNotNull: localized("is not empty")
        }
    }

    static func fitting(_ field: FieldPath) -> [FilterTest] {
        let operators = ResourceFilter.operators(field)
        return allCases.filter { operators.contains($0.filterOperator) }
    }

    /// `filter[price][ge]`
    func parameterName(_ field: String) -> String {
        self == .eq ? "filter[\(field)]" : "filter[\(field)][\(filterOperator.rawValue)]"
    }

    /// The test of a filter in an address.
    init?(_ parameter: RequestParameters.Parameter) {
        let name = parameter.keys.count > 1 ? parameter.keys[1] : FilterTest.eq.rawValue
        guard let test = FilterTest(rawValue: name) else { return nil }
        self = test == .isNull && parameter.value == "false" ? .isNotNull : test
    }
}
