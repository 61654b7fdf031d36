extension Rules {
    /// The columns that the subject may not change although they may change the object, by the class's position. Classes
    /// without such columns are left out.
    public func fixedColumns(_ subject: Subject) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for index in roles.keys {
            if let columns = role(of: subject, index)?.fixedColumns, !columns.isEmpty { result[index] = columns }
        }
        return result
    }
}
