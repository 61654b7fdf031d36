extension Rules {
    /// The columns of a class, by its position, that the subject may not change although they may change the object.
    public func fixedColumns(_ subject: Subject, ofClassAt index: Int) -> Set<Int> {
        role(of: subject, index)?.fixedColumns ?? []
    }
}
