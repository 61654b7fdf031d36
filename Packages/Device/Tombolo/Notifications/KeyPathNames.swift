internal import TomboloModel

/// Key paths as property names.
enum KeyPathNames {
    static func split(_ keyPaths: [String]) -> [[String]] {
        keyPaths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
    }

    static func names<Root: ObjectBase>(of keyPaths: [PartialKeyPath<Root>]) -> [[String]] {
        keyPaths.map { PropertyPath(of: $0).names }
    }
}
