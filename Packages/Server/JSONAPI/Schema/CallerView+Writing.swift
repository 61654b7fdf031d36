package import TomboloModel
import TomboloRules

extension CallerView {
    /// The columns of a class that the caller may not set in any object, although they may change others.
    package func fixedColumns(of type: ResourceType) -> Set<Int> {
        rules.fixedColumns(subject, ofClassAt: type.classIndex)
    }

    /// The values, by column, that the rules demand in every object that the caller creates, such as the caller as its
    /// creator.
    package func demandedOnCreation(of type: ResourceType) -> [Int: Value] {
        let all = Resource.objects(classIndex: type.classIndex)
        guard let filter = try? rules.authorize(subject, .create, all).get() else { return [:] }
        var values: [Int: Value] = [:]
        for (index, column) in type.item.columns.enumerated() { values[index] = filter.demanded(column.name) }
        return values
    }
}

extension Predicate {
    /// The only value of a property for which the condition can hold; nil if there may be others.
    fileprivate func demanded(_ property: String) -> Value? {
        switch self {
        case .compare(PropertyPath(property), .equal, let value): value
        case .and(let parts): parts.lazy.compactMap { $0.demanded(property) }.first
        default: nil
        }
    }
}
