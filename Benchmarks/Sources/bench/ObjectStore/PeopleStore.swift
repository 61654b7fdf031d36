/// What is measured on people in a file. Results are checked against the other side's.
protocol PeopleStore {
    /// In one transaction.
    func insert(_ people: [PersonValues]) throws
    /// Each in a transaction of its own.
    func insertOneByOne(_ people: [PersonValues]) throws
    func rowCount() throws -> Int
    func count(olderThan age: Int) throws -> Int
    /// Reads name and age of all as `String` and `Int`.
    /// - Returns: the sum of ages and of the names' lengths.
    func readAll() throws -> Int
    /// Finds each by its key and reads its age.
    /// - Returns: the sum of ages.
    func lookUp(_ keys: [Int]) throws -> Int
    /// Reads the score of each and writes it raised by 1, in one transaction.
    func raiseScores() throws
    /// Deletes by a condition, in one transaction.
    func delete(ages: Range<Int>) throws
    /// Sorts all by score and reads name and score of the first ones.
    /// - Returns: a check of what was read.
    func firstByScore(_ count: Int) throws -> Int
}
