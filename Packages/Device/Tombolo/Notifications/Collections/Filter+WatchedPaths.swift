internal import TomboloModel

extension Filter {
    /// The paths to the properties that decide whether an object satisfies the condition. Nil if paths from the object
    /// can't express them.
    var watchedPaths: [[String]]? {
        var paths: [[String]] = []
        return collect(&paths, [[]]) ? paths : nil
    }

    /// - Parameter scopes: the paths to the objects that operands refer to, innermost last.
    fileprivate func collect(_ paths: inout [[String]], _ scopes: [[String]]) -> Bool {
        switch self {
        case .constant: true
        case .compare(let left, _, let right, _), .text(let left, _, let right, _):
            left.collect(&paths, scopes) && right.collect(&paths, scopes)
        case .between(let operand, let low, let high):
            [operand, low, high].allSatisfy { $0.collect(&paths, scopes) }
        case .isIn(let operand, _, _): operand.collect(&paths, scopes)
        case .quantified(_, let path, let inner): inner.collect(&paths, within: path, scopes)
        case .and(let parts), .or(let parts): parts.allSatisfy { $0.collect(&paths, scopes) }
        case .not(let inner): inner.collect(&paths, scopes)
        }
    }

    /// Collects the paths of a condition on the objects at a path.
    fileprivate func collect(_ paths: inout [[String]], within path: PropertyPath, _ scopes: [[String]]) -> Bool {
        guard let scope = scopes.last else { return false }
        let element = scope + path.names
        paths.append(element)
        return collect(&paths, scopes + [element])
    }
}

extension FilterOperand {
    fileprivate func collect(_ paths: inout [[String]], _ scopes: [[String]]) -> Bool {
        guard let scope = scopes.last else { return false }
        switch self {
        case .literal, .element: return true
        case .property(let path), .length(let path):
            paths.append(scope + path.names)
            return true
        case .count(let path, let condition): return condition.collect(&paths, within: path, scopes)
        case .aggregate(_, let path, let value):
            let element = scope + path.names
            paths.append(element)
            return value.collect(&paths, scopes + [element])
        case .outer(let inner): return inner.collect(&paths, scopes.dropLast())
        }
    }
}
