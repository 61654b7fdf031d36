internal import TomboloModel

/// The promises of ``ServerStore``, one case each. A test runs every case:
///
///     @Test(arguments: ServerStoreCheck.allCases)
///     func keepsItsPromises(_ check: ServerStoreCheck) async throws { try await check.run(MyHarness.self) }
public enum ServerStoreCheck: String, CaseIterable, Sendable, CustomStringConvertible {
    case newDatabaseStandsAtTheOrigin = "A database without ticks is at the origin"
    case tickFollowsAChange = "A change makes a tick, and no tick is made without a change"
    case readersSeeTheTick = "A reader sees the database as of its tick, whatever happens later"
    case rowsComeBackUnchanged = "Values of every type come back as they were written"
    case predicatesSelect = "Rows, elements and counts follow the predicate"
    case differencesHaveBothImages = "A difference has the row before and after of every changed object"
    case differencesSkipWhatCameAndWent = "An object that was created and erased in between is in no difference"
    case differencesFollowLists = "A difference groups elements by the object that has the list"
    case differencesSurviveKeyReuse = "An object that was erased and created again has both images"
    case clientsOpen = "Clients are opened once, by their user, with what the server knows"
    case readableIsKept = "What users could read is kept under its rules fingerprint"
    case uploadsApply = "Uploads create, change and erase"
    case progressIsAsOfTheTick = "Progress is as of the tick, and makes a tick by itself"
    case uploadsCountOnce = "The same changeset counts once; other numbers are gaps or conflicts"
    case copiedFilesAreNoticed = "A copied file's other changesets are conflicts, and nothing after them is applied"
    case basesMustBeKnown = "A base that is unknown or dropped is reported as such"
    case originNeedsAllThatHappened = "A base before all ticks is valid while the changelog reaches back to the start"
    case permissionIsAsked = "A write that isn't permitted is refused, and doesn't block what follows"
    case permissionIsAskedForWhatLeavesNoTrace =
        "Permission is checked for objects that a changeset creates and erases, or erases and creates again"
    case unseenObjectsCountAsMissing = "A write to an object the user may not read is answered as if it didn't exist"
    case constraintsRefuse = "A unique constraint refuses one changeset and leaves the others of its group"
    case refusalsAreKeptUntilAcknowledged = "Refusals stay until the client acknowledges them"
    case differencesTellNewRefusals = "A difference says which refusals are new, and only those are read"
    case laterEditWins = "Of concurrent edits to one field the later wins, whichever arrives first"
    case seenEditsCameBefore = "Edits that the base sees came before, whatever the clocks say"
    case defaultsYield = "A default replaces only an earlier default that its device couldn't know about"
    case futureStampsAreClamped = "A device whose clock is ahead doesn't win over later edits"
    case additionsAllCount = "Concurrent additions all count"
    case eraseWins = "A concurrent erase wins, and a create after it is a new object"
    case linksToErasedObjectsBecomeNil = "A link to an erased object becomes nil"
    case erasesEndLinksOfTheirChangeset =
        "An erase clears the links that its changeset made before, even if the object is created again"
    case listsMerge = "Concurrent list edits all count, and the owner's permission decides"
    case randomHistories = "The differences of a random history add up to the rows"

    public var description: String { rawValue }

    /// How many random histories a run plays.
    public static let randomSeeds: UInt64 = 10

    public func run<Harness: ServerStoreHarness>(_ type: Harness.Type) async throws {
        let schema = try ServerConformanceSchema.make()
        if self == .randomHistories {
            for seed in 1...Self.randomSeeds {
                try await ServerStoreHistory<Harness>.run(schema: schema, seed: seed)
            }
            return
        }
        let harness = try await Harness.make(schema: schema)
        do {
            try await ServerStoreScenario(harness: harness, schema: schema).run(self)
        } catch {
            try? await harness.finish()
            throw error
        }
        try await harness.finish()
    }
}
