import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// The rules in ``Arbiter``'s comment, each by its name.
@Suite struct ArbiterTests {
    // MARK: What happened before

    @Test func whatTheBaseSeesHappenedBeforeWhateverTheClocksSay() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], xid: 7, at: 999, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: 5)
        #expect(result.writes == [F.update(1, F.title, .string("new"))])
        #expect(result.lost == 0)
    }

    @Test func whatWasRunningAtTheBaseIsConcurrent() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], xid: 8, at: 999, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: 5)
        #expect(result.writes.isEmpty)
        #expect(result.lost == 1)
    }

    @Test func theSameClientsEarlierChangesetsHappenedBefore() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 999, by: F.a)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], at: 5).lost == 0)
    }

    @Test func laterChangesetsOfAGroupSeeEarlierOnes() throws {
        var f = F()
        f.load(1)
        #expect(try f.apply([F.set(1, F.title, .string("a"))], at: 50, by: F.a).lost == 0)
        #expect(try f.apply([F.set(1, F.title, .string("b"))], at: 40, by: F.b).lost == 1)
        #expect(try f.apply([F.set(1, F.title, .string("a2"))], at: 30, by: F.a, number: 2).lost == 0)
    }

    // MARK: The order of a changeset

    @Test func anElementThatStandsBeforeTheCreationOfItsTargetIsKeptWithAllThatIsSaidOfIt() throws {
        var f = F()
        f.load(1)
        let rank = [FieldWrite(column: ElementColumn.rank, value: .string("z"))]
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), F.createElement(F.element(2), owner: 3, target: 2),
            .set(F.element(1), rank), F.create(F.item(3), title: "three"), F.create(F.item(2), title: "two"),
            F.createElement(F.element(3), owner: 3, target: 2),
        ])
        #expect(
            result.writes.map(\.reference) == [
                F.item(3), F.item(2), F.element(1), F.element(1), F.element(2), F.element(3),
            ])
        #expect(result.lost == 0)
    }

    @Test func anElementWhoseTargetNobodyCreatesIsDropped() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), F.create(F.item(3), title: "three"),
        ])
        #expect(result.writes.map(\.reference) == [F.item(3)])
        #expect(result.lost == 1)
    }

    @Test func anElementGoesWithItsObjectAlsoWhenItsTargetComesLater() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), .erase(F.item(1)), F.create(F.item(1), title: "anew"),
            F.create(F.item(2), title: "two"),
        ])
        #expect(!result.writes.map(\.reference).contains(F.element(1)))
    }

    @Test func anElementLinksToWhatIsErasedAndCreatedAgain() throws {
        var f = F()
        f.load(1)
        f.load(2)
        let result = try f.apply([
            .erase(F.item(2)), F.createElement(F.element(1), owner: 1, target: 2), F.create(F.item(2), title: "anew"),
        ])
        #expect(result.writes.map(\.reference) == [F.item(2), F.item(2), F.element(1)])
        #expect(result.lost == 0)
    }

    // MARK: One column

    @Test(arguments: [(99, 1), (101, 0)] as [(Int64, Int)])
    func ofConcurrentSetsTheLaterStampWins(mine: Int64, lost: Int) throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: mine)
        #expect(result.lost == lost)
        #expect(result.writes.count == 1 - lost)
    }

    @Test func theGreaterClientBreaksTies() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: F.b)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], by: F.a).lost == 1)
        var g = F()
        g.load(1)
        g.log(1, .update, [F.title: .set], at: 100, by: F.a)
        #expect(try g.apply([F.set(1, F.title, .string("new"))], by: F.b).lost == 0)
    }

    @Test func plainSQLWinsTies() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: nil)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], by: F.b).lost == 1)
    }

    @Test func columnsDoNotDisturbEachOther() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 200, by: F.b)
        let fields = [
            FieldWrite(column: F.title, value: .string("lost")), FieldWrite(column: F.parent, value: .int(1)),
        ]
        let result = try f.apply([.set(F.item(1), fields)])
        #expect(result.writes == [F.update(1, F.parent, .int(1))])
        #expect(result.lost == 1)
    }

    @Test func anExplicitValueBeatsADefault() throws {
        var f = F()
        f.load(1)
        f.log(1, .create, [F.title: .byDefault], at: 500, by: F.b)
        #expect(try f.apply([.create(F.item(1), [FieldWrite(column: F.title, value: .string("mine"))])]).lost == 0)
        var g = F()
        g.load(1)
        g.log(1, .create, at: 5, by: F.b)
        let byDefault = FieldWrite(column: F.title, value: .string("x"), isDefault: true)
        #expect(try g.apply([.create(F.item(1), [byDefault])]).lost == 1)
    }

    @Test func ofTwoDefaultsTheLaterWins() throws {
        let byDefault = FieldWrite(column: F.title, value: .string("x"), isDefault: true)
        for (stamp, lost) in [(99, 0), (101, 1)] as [(Int64, Int)] {
            var f = F()
            f.load(1)
            f.log(1, .create, [F.title: .byDefault], at: stamp, by: F.b)
            #expect(try f.apply([.create(F.item(1), [byDefault])]).lost == lost)
        }
    }

    @Test(arguments: [nil, F.a, F.b] as [ClientID?])
    func aDefaultLeavesWhatTheDeviceCouldKnow(author: ClientID?) throws {
        let fields = [
            FieldWrite(column: F.title, value: .string(""), isDefault: true),
            FieldWrite(column: F.count, value: .int(7)),
        ]
        for marks in [[:], [F.title: .byDefault]] as [[Int: LogEntry.Mark]] {
            var f = F()
            f.load(1)
            // Seen by the base, or the device's own.
            f.log(1, .create, marks, xid: author == F.a ? 20 : 7, at: 5, by: author)
            let result = try f.apply([.create(F.item(1), fields)])
            #expect(result.writes == [F.update(1, F.count, .int(7))])
        }
        // The changelog says nothing of what is older than it.
        var f = F()
        f.load(1)
        #expect(try f.apply([.create(F.item(1), fields)]).writes == [F.update(1, F.count, .int(7))])
    }

    @Test(arguments: [.add(3), .set] as [LogEntry.Mark])
    func aDefaultLeavesWhatWasDoneToAnEarlierOne(mark: LogEntry.Mark) throws {
        for author in [nil, F.a, F.b] as [ClientID?] {
            var f = F()
            f.load(1, count: 3)
            f.log(1, .create, [F.count: .byDefault], at: 5, by: F.b)
            f.log(1, .update, [F.count: mark], at: 6, by: author)
            let byDefault = FieldWrite(column: F.count, value: .int(0), isDefault: true)
            #expect(try f.apply([.create(F.item(1), [byDefault])]).writes.isEmpty)
        }
    }

    // MARK: Counters

    @Test func additionsCountInAnyOrder() throws {
        var f = F()
        f.load(1, count: 5)
        f.log(1, .update, [F.count: .add(5)], at: 999, by: F.b)
        let result = try f.apply([.add(F.item(1), column: F.count, amount: 3)], at: 1)
        #expect(result.writes == [F.update(1, F.count, .int(8), .add(3))])
    }

    @Test func aSetThatIsLaterThanAnAdditionReplacesIt() throws {
        var f = F()
        f.load(1, count: 50)
        f.log(1, .update, [F.count: .set], at: 200, by: F.b)
        #expect(try f.apply([.add(F.item(1), column: F.count, amount: 3)], at: 100).lost == 1)
        var g = F()
        g.load(1, count: 50)
        g.log(1, .update, [F.count: .set], at: 50, by: F.b)
        let result = try g.apply([.add(F.item(1), column: F.count, amount: 3)], at: 100)
        #expect(result.writes == [F.update(1, F.count, .int(53), .add(3))])
    }

    @Test func aSetKeepsAdditionsThatAreLater() throws {
        var f = F()
        f.load(1, count: 12)
        f.log(1, .update, [F.count: .add(5)], at: 50, by: F.b)
        f.log(1, .update, [F.count: .add(7)], at: 150, by: F.b)
        let result = try f.apply([F.set(1, F.count, .int(100))], at: 100)
        #expect(result.writes == [F.update(1, F.count, .int(107))])
    }

    @Test func anAdditionBeyondItsTypeIsRefused() throws {
        var f = F()
        f.load(1, count: .max)
        let error = #expect(throws: Refusal.self) {
            _ = try f.apply([.add(F.item(1), column: F.count, amount: 1)])
        }
        #expect(error?.code == .invalid)
        #expect(throws: Refusal.self) { _ = try f.apply([.add(F.item(1), column: F.small, amount: 128)]) }
        #expect(throws: Refusal.self) { _ = try f.apply([.add(F.item(1), column: F.title, amount: 1)]) }
    }

    // MARK: Erasing

    @Test(
        arguments: [
            .create(F.item(1), []), F.set(1, F.title, .string("new")),
            .add(F.item(1), column: F.count, amount: 1), .erase(F.item(1)),
        ] as [Instruction])
    func aConcurrentEraseWinsOverEveryInstruction(instruction: Instruction) throws {
        var f = F()
        f.log(1, .erase, at: 1, by: F.b)
        let result = try f.apply([instruction], at: 999)
        #expect(result.writes.isEmpty)
        #expect(result.lost == 1)
    }

    @Test func aConcurrentEraseWinsAlsoWhereTheObjectWasMadeAnew() throws {
        var f = F()
        f.load(1, title: "second life")
        f.log(1, .erase, at: 1, by: F.b)
        f.log(1, .create, at: 2, by: F.b)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], at: 999).writes.isEmpty)
    }

    @Test func aCreateWhoseBaseSeesTheEraseMakesANewObject() throws {
        var f = F()
        f.log(1, .erase, xid: 3, at: 999, by: F.b)
        let result = try f.apply([.create(F.item(1), [FieldWrite(column: F.title, value: .string("new"))])], at: 1)
        #expect(
            result.writes == [
                .insert(
                    F.item(1), Row([.int(1), .string("new"), .int(0), .null, .int(0)]),
                    defaults: [F.count, F.parent, F.small])
            ])
    }

    @Test func anEraseWinsOverConcurrentEdits() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 999, by: F.b)
        #expect(try f.apply([.erase(F.item(1))], at: 1).writes == [.erase(F.item(1))])
    }

    @Test func eraseAndCreateInOneChangesetMakeANewObject() throws {
        var f = F()
        f.load(1, count: 9)
        let result = try f.apply([.erase(F.item(1)), .create(F.item(1), [])])
        #expect(result.writes.count == 2)
        #expect(result.lost == 0)
    }

    @Test func editsOfAnObjectThatIsGoneAreLost() throws {
        var f = F()
        #expect(try f.apply([F.set(1, F.title, .string("x"))]).lost == 1)
        #expect(try f.apply([.add(F.item(1), column: F.count, amount: 1)]).lost == 1)
        #expect(try f.apply([.erase(F.item(1))]).writes.isEmpty)
    }

    // MARK: Links

    @Test func aLinkToAnObjectThatIsGoneBecomesNil() throws {
        var f = F()
        f.load(1, parent: .int(3))
        f.load(3)
        #expect(try f.apply([F.set(1, F.parent, .int(2))]).writes == [F.update(1, F.parent, .null)])
    }

    @Test func aLinkToAnObjectMadeLaterInTheChangesetIsSet() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([F.set(1, F.parent, .int(2)), .create(F.item(2), [])])
        #expect(result.writes.count == 3)
        #expect(result.writes.last == F.update(1, F.parent, .int(2)))
    }

    @Test func aDeferredLinkYieldsToALaterWriteOfTheChangeset() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.set(1, F.parent, .int(2)), .create(F.item(2), []), F.set(1, F.parent, .null),
        ])
        #expect(result.writes.last == F.update(1, F.parent, .null))
    }

    @Test(arguments: [(50, 1), (150, 0)] as [(Int64, Int)])
    func whatForeignKeysDoIsAWriteLikeOthers(mine: Int64, lost: Int) throws {
        var f = F()
        f.load(1, parent: .int(3))
        f.load(2)
        f.load(3)
        #expect(try f.apply([.erase(F.item(3))], at: 100, by: F.b).writes == [.erase(F.item(3))])
        #expect(try f.apply([F.set(1, F.parent, .int(2))], at: mine, by: F.a).lost == lost)
    }

    @Test func anEraseUnlinksWhatLinksToTheObjectThenAndNothingElse() throws {
        var f = F()
        for key in 1...5 as ClosedRange<Int64> { f.load(key) }
        f.load(6, parent: .int(1))
        f.load(7, parent: .int(1))
        _ = try f.apply(
            [
                // Away and back, away for good, to it at last, and to it before it is there.
                F.set(6, F.parent, .int(2)), F.set(6, F.parent, .int(1)), F.set(7, F.parent, .int(2)),
                F.set(3, F.parent, .int(1)), .create(F.item(9), [FieldWrite(column: F.parent, value: .int(8))]),
                .create(F.item(8), []),
            ], at: 10, by: F.b)
        _ = try f.apply([.erase(F.item(1)), .erase(F.item(8))], at: 20, by: F.b, number: 2)
        // Links that the erase made nil have its stamp, the others those that they had.
        for (key, lost) in [(6, 1), (3, 1), (9, 1), (7, 0)] as [(Int64, Int)] {
            #expect(try f.apply([F.set(key, F.parent, .int(4))], at: 15, by: F.a, number: key).lost == lost, "\(key)")
        }
    }

    @Test func anElementGoesWithItsTarget() throws {
        var f = F()
        f.load(1)
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        _ = try f.apply([.erase(F.item(2))], by: F.b)
        let rank = FieldWrite(column: ElementColumn.rank, value: .string("z"))
        #expect(try f.apply([.set(F.element(1), [rank])], at: 999, by: F.a).writes.isEmpty)
    }

    @Test func anObjectMayLinkToItself() throws {
        var f = F()
        let result = try f.apply([.create(F.item(1), [FieldWrite(column: F.parent, value: .int(1))])])
        guard case .insert(_, let row, _) = result.writes.first else { return #expect(Bool(false)) }
        #expect(row[F.parent] == .int(1))
    }

    @Test func aListElementWhoseTargetIsGoneIsDropped() throws {
        var f = F()
        f.load(1)
        let fields = [
            FieldWrite(column: ElementColumn.owner, value: .int(1)),
            FieldWrite(column: ElementColumn.rank, value: .string("a")),
            FieldWrite(column: ElementColumn.target, value: .int(2)),
        ]
        #expect(try f.apply([.create(F.element(1), fields)]).writes.isEmpty)
        f.load(2)
        #expect(try f.apply([.create(F.element(1), fields)], number: 2).writes.count == 1)
    }

    @Test func anElementCannotMoveToAnotherOwner() throws {
        var f = F()
        f.load(1)
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        #expect(throws: Refusal.self) {
            _ = try f.apply([.set(F.element(1), [FieldWrite(column: ElementColumn.owner, value: .int(2))])])
        }
    }

    // MARK: Permissions and values

    @Test func aRefusalLeavesNothingBehind() throws {
        var f = F()
        f.load(1)
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.set(1, F.title, .string("x")), F.set(1, F.count, .string("no number"))])
        }
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.set(1, F.title, .string("x"))], permit: { _ in "no" })
        }
        // Had the refused edit stayed, this one would be concurrent with it and lose.
        #expect(try f.apply([F.set(1, F.title, .string("y"))], at: 1, by: F.b).lost == 0)
    }

    @Test func permissionIsAskedWithTheRowBeforeAndAfter() throws {
        var f = F()
        f.load(1, title: "before")
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [F.set(1, F.title, .string("middle")), F.set(1, F.title, .string("after")), .create(F.item(2), [])],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.update, .create])
        #expect(asked.first?.old?[F.title] == .string("before"))
        #expect(asked.first?.new?[F.title] == .string("after"))
        #expect(asked.last?.old == nil)
    }

    @Test func theOwnerDecidesOverAListElement() throws {
        var f = F()
        f.load(1, title: "owner")
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [.erase(F.element(1))],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.update])
        #expect(asked.first?.classIndex == 0)
        #expect(asked.first?.new?[F.title] == .string("owner"))
    }

    @Test func anErasedObjectIsAskedForAsADelete() throws {
        var f = F()
        f.load(1)
        f.loadElement(1, owner: 1, target: 1)
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [.erase(F.element(1)), .erase(F.item(1))],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.delete])
    }

    @Test func whatAChangesetMakesAndErasesIsAskedForAsACreate() throws {
        var f = F()
        let asked = try f.requests([F.create(F.item(1), title: "new"), F.set(1, F.count, .int(7)), .erase(F.item(1))])
        #expect(asked.map(\.operation) == [.create])
        #expect(asked[0].classIndex == 0)
        #expect(asked[0].new == Row([.int(1), .string("new"), .int(7), .null, .int(0)]))
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.create(F.item(2), title: "new"), .erase(F.item(2))], permit: { _ in "no" })
        }
    }

    @Test func anObjectThatIsErasedAndMadeAgainIsAskedForTwice() throws {
        var f = F()
        f.load(1, title: "theirs")
        let asked = try f.requests([.erase(F.item(1)), F.create(F.item(1), title: "mine")])
        #expect(asked.map(\.operation) == [.delete, .create])
        #expect(asked[0].old?[F.title] == .string("theirs"))
        #expect(asked[1].new?[F.title] == .string("mine"))
    }

    @Test func bothOwnersDecideOverAnElementThatChangesItsList() throws {
        var f = F()
        f.load(1, title: "theirs")
        f.load(2, title: "mine")
        f.loadElement(1, owner: 1, target: 2)
        let asked = try f.requests([.erase(F.element(1)), F.createElement(F.element(1), owner: 2, target: 2)])
        #expect(asked.map(\.operation) == [.update, .update])
        #expect(asked.map { $0.old?[F.title] } == [.string("theirs"), .string("mine")])
    }

    @Test(arguments: [false, true])
    func whatACreateReplacesInTheTrashNeedsPermission(erased: Bool) throws {
        var f = F()
        f.arbiter.load(F.page(1), trashed: F.pageRow(1, "theirs"))
        let asked = try f.requests([F.create(F.page(1), title: "mine")] + (erased ? [.erase(F.page(1))] : []))
        #expect(asked.map(\.operation) == [.create, .update])
        #expect(asked[1].old == F.pageRow(1, "theirs"))
        #expect(asked[1].new == F.pageRow(1, "mine"))
        // Once it is replaced, it is as the changeset left it.
        let again = try f.requests(erased ? [F.create(F.page(1), title: "again")] : [.erase(F.page(1))])
        #expect(again.map(\.operation) == (erased ? [.create, .update] : [.delete]))
        #expect(again.last?.old == F.pageRow(1, "mine"))
    }

    @Test func anEditThatGoesIntoTheTrashNeedsPermission() throws {
        var f = F()
        f.arbiter.load(F.page(1), F.pageRow(1, "old"))
        let title = [FieldWrite(column: F.title, value: .string("new"))]
        let asked = try f.requests([.set(F.page(1), title), .erase(F.page(1))])
        #expect(asked.map(\.operation) == [.delete, .update])
        #expect(asked[1].new == F.pageRow(1, "new"))
    }

    /// An instruction that does nothing must not make the object count as written by the changeset.
    @Test func nobodyMayEditTheListOfAnObjectInTheTrash() throws {
        var f = F()
        f.arbiter.load(F.page(1), trashed: F.pageRow(1, "theirs"))
        f.load(1)
        f.loadElement(1, F.pageElementClass, owner: 1, target: 1)
        let title = [FieldWrite(column: F.title, value: .string("x"))]
        let asked = try f.requests([.set(F.page(1), title), .erase(F.element(1, F.pageElementClass))])
        #expect(asked.map(\.operation) == [.update])
        #expect(asked[0].classIndex == F.pageClass)
        #expect(asked[0].old == nil && asked[0].new == nil)
    }

    @Test func referencesNamesWhatMustBeLoaded() {
        let changeset = Changeset(
            number: 1, base: 0, stamp: Stamp(microseconds: 0),
            instructions: [F.set(1, F.parent, .int(2)), .create(F.item(3), []), F.set(3, F.parent, .int(1))])
        let references = F().arbiter.references(of: changeset)
        #expect(references.written == [F.item(1), F.item(3)])
        #expect(references.linked == [F.item(2)])
    }
}
