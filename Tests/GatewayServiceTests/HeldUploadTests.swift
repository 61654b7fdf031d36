import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.serialized, .timeLimit(.minutes(15)))
struct HeldUploadTests {
    private final class Permission: Sendable {
        let isGiven = Atomic(false)
    }

    private static func upload(_ number: Int64, _ text: String) -> ClientMessage {
        .upload([
            Changeset(
                number: number, base: 0, stamp: Stamp(microseconds: number),
                instructions: [
                    .create(
                        ObjectReference(classIndex: 0, key: .int(number)), [FieldWrite(column: 1, value: .string(text))]
                    )
                ])
        ])
    }

    @Test("an upload that is decoded while the previous one ends keeps its room in the gateway's budget")
    func decodedBeside() async throws {
        let schema = try Schema.of([Note.self])
        // The newest changeset whose upload has begun, and the newest one that may be applied.
        let begun = Atomic<Int64>(0)
        let released = Atomic<Int64>(0)
        defer { released.store(.max, ordering: .relaxed) }
        try await GatewayFixture.with(
            schema,
            models: {
                HeldModels(
                    schema: schema, pool: $0,
                    holdUpload: { uploads in
                        let number = uploads[0].changeset.number
                        begun.store(number, ordering: .relaxed)
                        while released.load(ordering: .relaxed) < number { await Task.yield() }
                    })
            }
        ) { fixture in
            let services = fixture.gateway.services
            let mayDecode = Permission()
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                try await device.sayHello()
                _ = try await device.firstEnd()
                let (first, second) = (Self.upload(1, "short"), Self.upload(2, String(repeating: "x", count: 100_000)))
                let byteCounts = [first, second].map { device.codec.encode($0).count }
                async let others: Void = services.heavyWork.run(Peer("other"), progress: { .independent }) {
                    while !mayDecode.isGiven.load(ordering: .relaxed), !Task.isCancelled { await Task.yield() }
                }
                while await services.heavyWork.usedCount == 0 { await Task.yield() }
                try await device.send(first)
                try await device.send(second)
                while await services.heavyWork.waitingCount == 0 { await Task.yield() }
                #expect(await services.uploadBudget.byteCount == byteCounts[0] + byteCounts[1])
                released.store(1, ordering: .relaxed)
                _ = try #require(try await device.firstEnd { $0.acknowledged == 1 })
                mayDecode.isGiven.store(true, ordering: .relaxed)
                _ = try await others
                while begun.load(ordering: .relaxed) < 2 { await Task.yield() }
                #expect(await services.uploadBudget.byteCount == byteCounts[1])
                released.store(2, ordering: .relaxed)
                _ = try #require(try await device.firstEnd { $0.acknowledged == 2 })
                while await services.uploadBudget.byteCount > 0 { await Task.yield() }
            }
        }
    }

    @Test("an upload that comes before its session is open counts against its user's budget, and leaves nothing behind")
    func tooEarly() async throws {
        let schema = try Schema.of([Note.self])
        let mayOpen = Permission()
        defer { mayOpen.isGiven.store(true, ordering: .relaxed) }
        let isAsked = Permission()
        let narrowed = SessionAuthority(
            user: "early", rulesFingerprint: 2, readable: { _ in .constant(true) }, permit: { _ in nil })
        let authority = SessionAuthority(
            user: "early", rulesFingerprint: 1, readable: { _ in .constant(true) }, permit: { _ in nil },
            inPartition: { _ in narrowed })
        try await GatewayFixture.with(
            schema,
            models: {
                HeldModels(
                    schema: schema, pool: $0, authorize: { _ in authority },
                    holdReadable: {
                        guard $0 == narrowed.rulesFingerprint else { return }
                        isAsked.isGiven.store(true, ordering: .relaxed)
                        while !mayOpen.isGiven.load(ordering: .relaxed), !Task.isCancelled { await Task.yield() }
                    })
            }
        ) { fixture in
            let services = fixture.gateway.services
            let mayDecode = Permission()
            try await DeviceSocket.with(schema, port: fixture.port) { device in
                let upload = Self.upload(1, String(repeating: "x", count: 50_000))
                try await device.send(
                    .hello(
                        Hello(
                            accessToken: "token", client: ClientID(rawValue: 7), position: .none,
                            activeSubscriptions: .empty, wantedSubscriptions: .empty, acknowledged: 0,
                            classes: HelloClass.describe(schema), partition: .string("a"))))
                while !isAsked.isGiven.load(ordering: .relaxed) { await Task.yield() }
                async let others: Void = services.heavyWork.run(Peer("other"), progress: { .independent }) {
                    while !mayDecode.isGiven.load(ordering: .relaxed), !Task.isCancelled { await Task.yield() }
                }
                while await services.heavyWork.usedCount == 0 { await Task.yield() }
                try await device.send(upload)
                while await services.heavyWork.waitingCount == 0 { await Task.yield() }
                #expect(await services.uploadBudget.byteCountOfUser == ["early": device.codec.encode(upload).count])
                mayOpen.isGiven.store(true, ordering: .relaxed)
                mayDecode.isGiven.store(true, ordering: .relaxed)
                _ = try await others
                while await services.uploadBudget.byteCount > 0 { await Task.yield() }
                #expect(await services.uploadBudget.byteCountOfUser == [:])
            }
        }
    }
}
