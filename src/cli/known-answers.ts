/**
 * Six of the problems of test/vectors/sample.json, word for word, with the calls whose draws start at sample 2 or before:
 * what `flash-sampling doctor` tests a backend against. The answers are the Python reference's, not this package's.
 */
import type { Dtype } from "../backend.js";

export interface KnownDraw {
  readonly token: number;
  /** S, 16 hexadecimal digits */
  readonly scoreBits: string;
  readonly runnerUp: number;
}

export interface KnownCall {
  readonly temperature: number;
  /** sample number of the first draw listed */
  readonly firstSample: number;
  readonly samples: number;
  readonly rows: readonly { readonly seed: string; readonly sequence: number; readonly position: number; readonly draws: readonly KnownDraw[] }[];
}

/** Words are hexadecimal bits: a weight or a scale in its dtype, a hidden value as f32. A string is a row. */
export interface KnownProblem {
  readonly name: string;
  readonly dtype: Dtype;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly weights: readonly string[];
  readonly scales?: readonly string[];
  readonly hidden: readonly string[];
  readonly calls: readonly KnownCall[];
}

export const KNOWN_PROBLEMS: readonly KnownProblem[] = [
  {
    name: "f32 V=17 D=33",
    dtype: "f32",
    vocabSize: 17,
    hiddenSize: 33,
    weights: [
      "be7d43e0 3e9aac38 bc7bb1c0 be7bbc68 be00cabc 3eeba5a2 3ee24ab4 3ed8e23c bedc0b90 3ed4f316 3ea16a58 beed0534 beb6c2b2 be7098e4 bed28208 bd892168 3ed38ab2 3d85f918 3c114b80 3e981df0 3b072400 3da6f080 3e9e008e be4842c4 3ec85f98 bdfba9d0 3e8b32d4 bee0c7be be217c18 bdbde4c8 3e1a2720 be852e5a be0c791c",
      "3ed4fbc8 bd945bb8 3e8df5f6 beb8ed1a 3de45348 bec57590 bea1eb4c bec8dfc8 3e4497b0 befee7b4 3becbb00 bd115ef0 be270ef8 beb3b1e6 3def92f0 beeab76e becbe288 3e885354 3eec1d44 be69b478 be70a570 be025270 be8b6d3c be9d8d56 3ee28242 bcc59ac0 3eb9b154 3dc67a70 3e68c104 3e01c7fc be69a354 bd5f9980 be388108",
      "3eea45dc 3e8d2852 bec061d2 bea68d84 be4daee4 befdbc2c bd28c070 3ebcd9d6 beea9122 3eab4934 bb2ee200 bd83df38 3daa5358 bee6e000 3e790158 3eeb7b54 3e4e74f0 3ea059ce bee1341a be66fb3c bee46ab6 3e9c285c 3eb27e60 3e73f2f4 bea1e654 3ef1063c bec16554 3e2f3758 be8ab714 3e7733f0 be395fa8 3e008ed0 3e4e7978",
      "3d55a250 3e266d68 3ead212a becb803c bcdc9260 3e5becdc bdf13170 3e4d42ec 3d0a2660 be8f67b8 3e299448 3d02f9c0 bdac9620 3ece061c bedf352e be7d3a0c 3e0b2734 beeb3782 bdac4d80 bdbef778 3ea6beae be86af54 3ed75e78 bea8d12a 3e946d62 bc5f5c80 bdc498a8 3e3f8bd4 3eab4a9e 3dda87d0 bed6f8ba 3d8549c0 3d4fcc10",
      "3e190a14 bed4d188 3ebb736e 3e82f638 3e203c08 3ef6b0ca 3d590bc0 beb01424 3db6cfa0 3e67a13c be90533a 3e340b64 3e8bd284 3d6ec920 beb1e6e6 be004910 3e9a856e bececbb0 3e9cd92e bea397d8 3eb41f6e bee75c98 be837ed8 3e1131dc be61d3ec bebe42d6 3ed68e62 3e81babe 3e94b142 3ef29998 bd3b8560 3ee0e14e bebb0596",
      "bec73604 3ec83362 3e17a110 3edb7116 be8b49b0 3ea45334 3d3d7cf0 3eb290f0 3eb4f6d0 be0830fc bef9ce14 be18a1dc bee82950 3d1e6e30 3de04b08 bedae154 3eab68a0 be741754 be5c79e8 be9a345c be8c504e 3eb0f046 3e328d7c 3d222d40 3e73b880 3ed5d9d0 3e8f3ed8 3ea825a0 3ebd64ac 3e7aea64 3e183460 bd5a57f0 3d49c040",
      "bd270630 3e6d13fc 3ebc080c 3efb3be6 3d959b38 3e9b11e2 3dba34b0 beaa23c6 3e579ef8 3e85d35a 3eda04c2 3e2f248c be3e32f0 bec6d198 3ea8bfb4 3d9d56f8 3ecd5068 3ede46b8 3df2fa78 be94548a bed4d78c bee12f98 3de88d88 3e87ac80 3eaf56f8 bd431060 bef6206c 3e9e1246 be84eec8 3df59a00 3eca9bca 3ee083d6 befb30ac",
      "beb6d822 3babf400 3cb31a40 3dc0d710 3ed45b8a 3eafae20 3ee2742a befe7716 3e87956c 3d587e80 3d534220 3eb6ccfa 3e2f5b14 3df854c8 bb0a3000 bef20902 be879772 be2f53d0 3efb08d2 beb7fad0 3ea5b59c 3e93a1ee 3ef63bf0 bd457390 3e416174 3eb1387e be948dac 3ee45030 3ee32efa bea640dc 3e917b38 3ee218ec 3e9f2a58",
      "bec41d36 3ec4758e be8f5510 3ec480f2 bd475980 bed5c9e0 3de7c0d0 be6b27e4 bece2f2e beb33ef2 be018f18 be206330 3ccee6a0 3e960d5e becacb10 bead1882 be9cb5c0 bce81220 3ea7d9f6 3e46109c beea5e4a 3eabf62c bec1f17c 3ef8d442 beb78c12 bee27b04 bd8e3c10 bedfebf6 bdc408b0 bd803990 bec6f4e8 be2963ac bedb19c6",
      "becfc19c 3ef55d00 3d8384d8 be41ca20 3e8da6c2 3c65cc00 be81c0b2 3c890e00 be969390 bdeccff8 3e4c1ef8 bea1f79e 3dab2428 be857e74 3ef868fc 3eafeaf6 3e090040 bec18782 3df1e5c0 3ed13ee0 be887c74 3e4f5178 3cf4da40 3ed0da52 3ee2637e beff4588 be9386b2 be93b7f6 be8d4af8 bdd68e80 3eb086fc 3e8bb602 be56613c",
      "be9b87d8 3e966a82 bd7f75b0 3e2a514c be9d0370 3d087370 be2c5904 3ee88274 be8888f0 beaa9f64 3cdd6360 becec95a befbdf5e 3e654d0c be325088 3e8b1c70 bd138c60 bd0bebe0 beebf612 be976398 3defbb80 3e9cbf48 bece5042 be6a7668 3eaef846 bebe0d0c be8a671e 3edf701e 3e975d80 3e486f9c 3ea0f384 3e74cb54 bec4a5a8",
      "3ef77c34 beee6e42 bec976d6 3eb4c62c 3eb849c2 bdfc5390 bec10b40 be690f10 bcc1cb00 befdd538 3e5f52f4 bc7e25c0 bec5d6a2 3e88f1c0 3edd5d98 bd4a3fa0 bdc62cb8 beba8bfe 3e585bd4 be56186c bdf235f0 bd803de0 3e9a708a bea2a67c 3ee8d7d2 3eff9580 be9f5b76 bd4486b0 3ed910c2 beae45cc 3ef4a844 3ce02cc0 bc9193a0",
      "bdc5a4a8 3e782f50 beed2b60 bc58b7c0 beb77b70 bec96c5e beded3dc bea17e78 bd58cbb0 be192f10 3ef42206 bd059070 3e3e7cd0 be9ee39a bd824160 3e1113dc be2b8aa8 3cc77e20 be9ee2bc 3e26f010 be9f859a 3d9c7c08 bed8495e be0b38b4 beb82e9a be0b96b4 3ea96456 be4d5eb8 bc146f40 3e664738 befe68d2 3ef10368 beae9eae",
      "3eb6fc32 3e2ad548 beed59c6 be134d58 becbfb96 3e82bcb4 be3a88b8 bee2d710 bbd5e980 39f49800 bea830bc 3ebb2ee4 bd94fc70 3ea9c83c be1fc8f4 3ed2864a 3e030180 be9f7ed6 be514314 be280d78 bedc40ea 3ea42f3c bee38898 3e85dc00 be20faf0 bebc9422 bec47e16 3da2b318 3e14acc8 be8ed04a 3e5db32c bc629bc0 3e92619c",
      "3e507148 bed3aaba 3e000bf8 3e87c0cc 3def42e8 3e507f74 3eccf730 bd87dea8 3ebcfd64 3e9bb834 3e0dde60 bdac6c80 be80e7e8 be5eccf0 bdff41b8 bd65d240 bd7de690 be654628 3ec232a6 3e8869e6 3d86cac8 3ed9d3c6 3e0a6688 3ecccb6a 3ef9f5da 3e33ca34 3de8a6a8 befd4cae 3d333d50 3ebf48ce bc711b40 bea50ba2 be36d3e4",
      "bea0c29e bdb97d68 bd514ae0 bea88938 3ed53af2 bd96a958 3e411e8c be7eee18 be3aaa58 be643080 bd124330 be1ab1ec beafb472 bbb4c280 3e5f2110 beae1902 be41cbc0 3d740490 3e334f38 3eeb10ca 3e96c302 be9aef1a 3e592f08 bce903c0 3e415958 be9ba7f6 bd375920 3e9f2904 3eddfa76 bdf78ca8 bed3d412 3e5a1080 bebf81be",
      "befd7032 3e872e8a bef515e6 3cc1fb80 bea16986 bdf05868 be2c3b20 3e83ad42 befb2c1e 3ebf5a2c 3e14f400 3ede5470 3e9641dc bdb6c320 bdcb5da8 3d3dab30 3e588530 3e80f9fa bcc3c6a0 bee401c4 3dfaf8a0 bef3ae34 3e16d15c 3eb89018 bec64780 bed3f5a2 bd66ba90 3ed43fd0 be33f1b0 3eaebd76 beea2fd2 3d885a58 3e2d7064",
    ],
    hidden: [
      "3e831b12 3ec6e970 beddc55c 3fb47de9 bf355979 bd9da455 3e24aa91 404ed0cd bd668f71 bf4cf6c1 402f305e 3eb5f432 3fd85bdb bd6631fa bf4cb97d c0147ac2 bf2146ab 3e142b70 bdda089a be46f887 be231936 bdab07ab bd01c36d c06382ae be966860 bd1bc66b 3dd5d08b bd02992d beca757b 4025b6e7 bda1c604 bd1a3cbd 3d410355",
      "bf5c9fe5 be0ec05d 3e79ab93 407aa77e c057b713 bec75b25 bd22a750 bef59239 be39dbeb 3df7f1f8 3ec0a35c 3fd87f4d 3f285d4a be516914 befe13e3 3dab075c bdd1a54a 3e2c5903 bfc6383f bdae4d64 3f7852da 404362b7 bf0adf1b bf7908c6 bfc2563c 3e49644a c05c7a59 be8acd6c c06c2f64 4009661a bd8ad001 bf8c893f bfdcb5fd",
    ],
    calls: [
      {
        temperature: 0,
        firstSample: 2,
        samples: 1,
        rows: [
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 3, scoreBits: "00000002868d4800", runnerUp: 12 }] },
          { seed: "00000000ffffffff", sequence: 0, position: 4294967295, draws: [{ token: 8, scoreBits: "00000003c87e8400", runnerUp: 10 }] },
        ],
      },
      {
        temperature: 0.7,
        firstSample: 0,
        samples: 3,
        rows: [
          { seed: "32f9eb591cc351ba", sequence: 72, position: 3603, draws: [{ token: 10, scoreBits: "000000050ab3b4ca", runnerUp: 3 }, { token: 16, scoreBits: "00000006971e26e4", runnerUp: 5 }, { token: 3, scoreBits: "000000056b657abf", runnerUp: 16 }] },
          { seed: "a4419a6f47f3c03c", sequence: 87, position: 33, draws: [{ token: 8, scoreBits: "00000006c9e11f7d", runnerUp: 12 }, { token: 8, scoreBits: "000000067de2c866", runnerUp: 10 }, { token: 8, scoreBits: "0000000713721f7b", runnerUp: 16 }] },
        ],
      },
      {
        temperature: 1,
        firstSample: 1,
        samples: 2,
        rows: [
          { seed: "8bdbc42b0541c56c", sequence: 21, position: 4435, draws: [{ token: 3, scoreBits: "0000000882418dc0", runnerUp: 12 }, { token: 3, scoreBits: "00000007db578ac0", runnerUp: 10 }] },
          { seed: "0000000000000000", sequence: 0, position: 0, draws: [{ token: 16, scoreBits: "000000096e322c00", runnerUp: 2 }, { token: 8, scoreBits: "0000000774904580", runnerUp: 12 }] },
        ],
      },
      {
        temperature: 255.9,
        firstSample: 2,
        samples: 1,
        rows: [
          { seed: "ffffffffffffffff", sequence: 4294967295, position: 4294967295, draws: [{ token: 15, scoreBits: "0000066991a4907b", runnerUp: 6 }] },
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 2, scoreBits: "000007c430312e5f", runnerUp: 9 }] },
        ],
      },
    ],
  },
  {
    name: "bf16 V=31 D=32",
    dtype: "bf16",
    vocabSize: 31,
    hiddenSize: 32,
    weights: [
      "3d5b bee0 3edf bdeb 3dc6 3e62 be1b 3e94 3e82 3e27 be42 3ea0 3ede 3efc 3ee2 bcc9 3c1b 3ebb 3ef4 3df8 3e0d 3e13 3e51 3ea4 be43 bebe 3ef3 3d6b 3e99 be22 bebf be3e",
      "3e7a bed2 3e34 bde3 be8e 3cdc be90 be79 bee4 bdcc bcff 3e54 3daa 3e84 3d5c bef6 3e06 bed7 bbbf 3ef8 3ed5 3ef3 bea4 3e41 beef be50 bd89 be51 bed5 3d5e 3e5b 3ec3",
      "3e1c bea2 bce1 bdde be18 3ea2 3d82 beac 3d58 be51 bd49 3ef7 bc86 bd47 be95 3eaf 3ea4 bd91 be4a 3b59 3ec5 be2c be5e beb6 bd09 bd5a 3e83 be9c 3e86 be3e bedb be12",
      "bdc5 3e60 be52 beda 3c34 be15 be96 be15 beed 3eb7 3ec8 3ea2 3dfa bc7e 3e17 be52 3e99 be50 3ac9 bcac 3f00 3ee2 3edb bdb3 3eed 3e8e be9f 3e81 be48 be38 3eea be29",
      "becd bef0 beba 3f00 beb3 be61 bd4d beeb 3e93 3e83 be7a 3e8d 3e1d bde3 3e95 bd9e becc 3eb0 bed4 3e3e bef3 be45 bdfd 3e27 be11 3eb7 3c7a 3dcf beaf bed1 bd93 3ee7",
      "bef3 be16 3daa be11 3e3c 3eeb be89 3e89 becf befa be78 3e3e bca5 3e83 3e07 be24 be58 3a08 3ea1 3eca bea2 bec0 be9c bd0c bd43 be31 bdf0 3e1c 3e95 be47 bdd5 3e26",
      "be02 bea4 be29 beb7 beaa 3ec1 3e85 3d02 bc9c bee4 3e85 bdb7 3edf bd2d 3e2f 3cb2 3e69 bdb1 bec7 bebd 3ddd bef7 3eb3 3ee0 be07 3ea7 3e60 3cdb be82 beb2 beee be98",
      "bdef 3eef bb85 bedb 3ef7 3e89 3e25 3e85 beca 3ea0 bc87 3e59 be39 be23 beb5 befb 3ecd 3e6d 3dd3 3dc3 bec5 be89 3e1e 3ebe 3e45 be76 3e69 3ea9 3eb5 3ea6 3e5c bece",
      "3d8d 3e3f 3ecb bd28 3ec2 3eff 3efb 3df6 3ef9 bdab bbd0 beff 3e29 bd07 bde3 3ee0 beaf bdd1 bd58 3e80 befc bdb8 3dae 3eaa 3df3 3eb8 bdb1 be3d beb1 bec0 be73 3e1a",
      "bee5 be9d bed4 3d57 be38 3ef3 bea5 bea8 3ef3 be9f beb7 bde4 bec8 bedc bdd3 bef3 bea5 3e02 becd 3ee7 3e99 bec9 3ea9 bedf be49 bdde 3e85 beac be75 3dea be76 bd05",
      "3ee4 bcff 3ed4 3eda bd82 3e10 be9a 3eba 3ebe becb be73 3ee4 bee1 be5e 3e88 3e5c bde3 becf bd3b be9d 3e54 be8a be16 3e45 3df9 be38 3da3 beff bdb2 bd1f befd 3ec4",
      "3ee9 3eed 3eeb bdee bde8 3ef2 be11 3d3c 3e12 bed9 3d89 3dc6 3ec3 be91 3ea8 be85 be83 bebf 3edc 3ecb 3ea9 3ed2 bec1 bd94 bd99 be04 3e11 3e25 3eee becc befc 3ece",
      "be25 bea1 3ecf bd81 3ea8 3ee3 be8b 3df7 be63 be25 3e60 3ecf becb beb6 beef bedf be39 3ed7 be54 3dfc bd5f bee5 3dae 3ee1 bee9 beb4 be6c 3eda bea0 3eec 3dd9 3e2f",
      "bd90 3e81 3ec2 3cf9 3df7 bed9 3ead be19 3efb 3eeb 3c02 3e38 be35 be42 beaf beb5 3e7c bd25 bee3 beb0 be2f be8a be1c be43 3bd5 3efe becd bebb be39 3ecc befc 3ee8",
      "bdf8 3ec5 3ee4 3e93 3eab 3e6c 3d5c 3ec2 bde2 beb7 beca bc70 be3c bda7 be3e bd54 3d9e be49 be66 3e8a beec be8d beb1 bd57 3eb0 3e95 3ef1 3eda 3cda 3ed5 3ef4 beda",
      "be73 3eb0 3e0e beb0 bee9 becb 3d4b bdca 3db4 bdb5 3d67 bed0 be0f bc5c bc26 3e32 be5b bb9c 3e6c be01 bbc0 bed2 be0c bda3 be7f 3e0a 3e7e be38 bcf6 3ea8 be41 3d96",
      "be98 beec bcb5 be3c bee7 bedf beeb be85 bea3 3dce be88 beb2 be6e 3ef5 bec2 be2d bec9 3da5 beff 3d59 be35 bd73 beff be98 bee2 bed3 3ebe bed5 3e41 bedb 3e44 bd68",
      "3e56 3de4 bec7 3eb1 3e9f 3e0d 3e9c bd07 3ef6 3e08 be95 3e7d bebb bdc2 3c98 bee9 3e65 3d96 be28 ba37 be86 bd15 bed7 3e77 3eef bdf8 3e2f 3efa 3eb7 3ecf be48 3e32",
      "3d2b be08 bee6 3e9a 3ed6 bdf0 3ca3 bef8 beaa 3db2 bef5 3e81 bed2 be2a be8d 3e9f be8c bdba be83 3afe 3c07 be1d bec6 befb beb5 bcb6 3e9c bad0 be72 be8c bec4 be80",
      "3e1a 3e8d 3ef2 bef0 3efd 3e45 bd35 3e1c 3ebe 3e7b bdb2 3ed6 3db9 be72 3e5e 3e03 3ef4 3dfc 3e5a bce5 3ea4 bef4 3ee2 3e66 bd66 3ec9 beba 3e86 3eee be62 be5e 3e70",
      "3e8d 3e76 be92 3b9f be94 3ea3 3ed6 3c02 bedf 3d29 beac beb3 3e4d 3e37 3d20 bdb5 3eec be3d bdfe 3db3 bea3 bed8 3bd0 3f00 bdd4 3e49 3ec0 3edc 3e99 be11 bedc bdbd",
      "3efe beea 3e9f 3ee8 bcbe bcdf 3e22 beae bce0 bd7f 3df0 be40 befd be76 3e86 bec7 3e3c 3df3 3c23 3ef3 3e4e 3ec1 be5b be87 beee 3e54 baa4 bef4 3d5a bddf 3ef8 bdad",
      "be05 3e44 3edd bdf5 3e0a bc80 beea 3e49 3e5e 3e93 be7e be9e 3e8a bea3 bdf4 3eb7 bdb8 beff be8c bdea 3e66 bd62 3d37 3cfc 3cf7 3e47 bca0 bdd9 be22 bead bd87 3ef9",
      "be89 be66 beec 3c91 beb4 3d7e bdef bef6 3ece be3b be84 be7e bba1 3eed 3e81 be9b 3eb1 3ede befa bdeb 3ebd 3c41 be9a 3dab bdfd 3e28 bec8 3eea 3e6d bde5 be74 bebc",
      "3da9 bdba 3ef5 3e58 3e8f bdf3 3d91 3ce5 3e91 3df0 3ef7 3e8a 3ee4 becd bef3 be4a 3e02 3eec bd35 be0b be20 be95 3ebe 3ebc be8e 3e86 bece bed5 3ef9 bef6 3d3e 3d34",
      "be43 be16 3d92 bdd6 3d2c bec2 3e17 beae 3e60 3c50 be63 bddc 3dff 3e46 be08 be4a 3efa be66 3ec9 3ec2 be46 bd82 3edd bef3 3d8c 3c30 3edb 3e7c bedc 3e44 be60 3ed1",
      "3cd5 3e0e beb5 be8f 3dfc 3e35 beb5 bed3 3e94 be98 beec be2f bd78 3ed1 bdfe bd63 3ed1 3eff 3ee2 be4a be93 be68 bef2 3da9 be98 be30 bc7d 3e7a 3d9c bea9 be11 3e9c",
      "3e22 be60 bea1 befa be9f be41 beaa 3ee6 3d08 bb0f be80 be61 bda3 3e30 3edf 3de7 befd 3e49 bc7a 3ec0 bea8 bb8b bea1 3ebc be68 3efb 3e11 3dae beb3 3e88 bec6 3e92",
      "bed2 3ead 3e88 be81 be0b 3d45 3e91 3d7f 3ebe bea7 befc 3eb7 3eb6 3cd6 3ece bed1 bd05 3e9a be7f befb beb1 3ee9 be42 3cc3 3e17 3d28 be8a be5a bda9 3ee6 3e4a be61",
      "3d3f 3ec9 3eb2 beb1 3ed0 bde5 3efc bd3f 3e59 be31 bef5 3d80 3ee0 be9a 3d4a beb6 3e41 be26 bdbf 3db6 bdcc 3e59 3ee3 3e64 be88 bf00 3ee0 be81 3d92 bca4 3e82 bf00",
      "3eab be05 bea4 bd15 bed2 3d2e 3eaf beb7 3ef6 3ec6 be8e 3ed6 3e3f bdd3 3dbe bcc8 be89 be86 3dd1 3e2d 3e9a 3e90 3ef0 bd8b be52 be0c 3d66 3ec6 3ebd bec2 3b90 3d4c",
    ],
    hidden: [
      "3f7c3301 bf14ef9f 3e03dea6 c04fe32f 3f0620f9 bf4380bc bf4cd292 3e0bd183 3dfa3cb0 3f81db68 3ff79d0d 3fbfd829 bddcdeb8 bd6f1268 c03b4a09 bec4a711 be99c37a 3ff884db bd58949c bd41d12d 3dcafe93 be0c0a5e 3e15eb69 3f1aed88 bea43c64 bda8af9f 403964b5 bd24a69a 3fbc0041 bfab4118 bd1ba56c c036b64a",
      "3ef49a8d befb51ff befd8128 c0522e5b 3e7e29c1 3f0dfcc5 be8c8b6c 3fb173c0 c078d828 3dc884bb 3fe140a1 3f5e8f2f 3f3a6b50 be43372c bfe36877 3f4d304b bd6a0dd2 c058aa72 becfbeab be070504 405c2366 3deb8d3e be14d7e1 c0166e57 bdd9d73d bebae64d bd68e283 3f98e5ec be0b1a38 bf571acf bd412306 3dd1172c",
    ],
    calls: [
      {
        temperature: 0,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "e1a253ac8d254a33", sequence: 41, position: 899, draws: [{ token: 7, scoreBits: "0000000528c46800", runnerUp: 24 }] },
          { seed: "0000000000000000", sequence: 0, position: 0, draws: [{ token: 3, scoreBits: "00000006812ad000", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 0.0001,
        firstSample: 1,
        samples: 1,
        rows: [
          { seed: "ffffffffffffffff", sequence: 4294967295, position: 4294967295, draws: [{ token: 7, scoreBits: "0000000528d9d8b0", runnerUp: 24 }] },
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 3, scoreBits: "00000006814606d2", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 0.7,
        firstSample: 2,
        samples: 3,
        rows: [
          { seed: "00000000ffffffff", sequence: 0, position: 4294967295, draws: [{ token: 7, scoreBits: "00000007571c724d", runnerUp: 0 }, { token: 2, scoreBits: "00000007fdd5c6a0", runnerUp: 7 }, { token: 7, scoreBits: "00000007684ccfd5", runnerUp: 16 }] },
          { seed: "8000000000000000", sequence: 4294967295, position: 0, draws: [{ token: 3, scoreBits: "0000000acc4afbd9", runnerUp: 22 }, { token: 1, scoreBits: "0000000b58f55d75", runnerUp: 3 }, { token: 3, scoreBits: "0000000a1468c5d4", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 255.9,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "4a8cd05312df08de", sequence: 11, position: 4333, draws: [{ token: 16, scoreBits: "000006bfbd497e1a", runnerUp: 25 }] },
          { seed: "eaceb09740b12ff8", sequence: 80, position: 719, draws: [{ token: 0, scoreBits: "0000061ab0b09d1a", runnerUp: 6 }] },
        ],
      },
    ],
  },
  {
    name: "bf16 V=6 D=34 large",
    dtype: "bf16",
    vocabSize: 6,
    hiddenSize: 34,
    weights: [
      "5758 5887 d98f da78 db2b 5cc5 53a5 5869 5a65 5c4b 5931 d601 5bac 53a0 d680 d6d6 5ac2 5805 58ad d7ae d5c8 5943 5ae1 d465 567d 5b9d 557d 5665 5425 5458 dd24 d992 d3be 58c0",
      "d70e 5a2d 5d29 5d3a dc9d 5393 5ce3 593c 5bf0 53e3 5bf6 dd05 d593 dd31 5458 55cc 5ce3 d3ba 54b3 5b05 597b 5a4c d693 dcb5 5803 dc0b 587f 5a61 dd4a da0b 56a7 5a6d 5c15 5a24",
      "548c d864 54ae da37 d3ab 57e2 5c18 d67e 5aaa 5947 5949 d48b d942 dcf9 d6ab db64 d9ad daab d740 5a11 d4e4 56c6 5957 5a54 d4cd 55a5 d80a da5c 53a9 5a4b 5b14 d6c7 566e d98c",
      "dcf6 d620 dd07 56c8 da82 d604 d8db d76b 5417 53cd d476 5cfe d764 d389 5676 d929 5545 d3b4 db35 5575 d392 d940 d879 dc31 da95 d826 dcc0 d6eb 583c 5527 5a25 d44a d81d d5be",
      "576e da30 db89 5cba d416 5919 dd75 d698 dbb9 55dc d5f0 d9fa d87b d966 543c 5b5a 586c 5470 57b8 5b11 d427 5903 d4eb dcc8 5d25 565b da7a d55c 5716 5c47 55c3 5d20 592a d896",
      "d7d9 5664 d435 d9d2 d841 d9f1 d7d9 d384 d8e0 5d64 dbfe 5c66 5a73 55a8 5876 daec d950 dad4 d930 5bed d942 d5e1 5969 57c0 da2f 5991 d577 5a60 dacf 5871 5cfc da82 dafa d9a6",
    ],
    hidden: [
      "aecd8196 a993a4ed aad88599 2bf95446 29f04ba9 299e40dd adc949c9 2fbc7b04 ae6e157e 3079bc1d b0239a41 2cb59379 3039ea61 2b02a72d 2ae52349 ac03a8c6 ae3f9166 aaf59f4c 2f349822 aba4b8cd 2ee667a1 304c7afc 29337382 af360e49 aaa13cff ac32defe ae62cc2b 2eee6dae 2b24ee2a 2d7465f2 307113d7 aa60a37c 2b0f0b21 a99675e7",
    ],
    calls: [
      {
        temperature: 0,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "00000000ffffffff", sequence: 0, position: 4294967295, draws: [{ token: 5, scoreBits: "4000000000000000", runnerUp: 4 }] },
        ],
      },
      {
        temperature: 0.0001,
        firstSample: 1,
        samples: 1,
        rows: [
          { seed: "5f20af58acc8937f", sequence: 73, position: 303, draws: [{ token: 5, scoreBits: "400000000017f4b0", runnerUp: 4 }] },
        ],
      },
      {
        temperature: 0.7,
        firstSample: 2,
        samples: 3,
        rows: [
          { seed: "4f4191ff452d29cd", sequence: 32, position: 123, draws: [{ token: 5, scoreBits: "40000002f00fe2cf", runnerUp: 4 }, { token: 5, scoreBits: "40000003193a60d6", runnerUp: 4 }, { token: 5, scoreBits: "40000001f58b0d1d", runnerUp: 4 }] },
        ],
      },
      {
        temperature: 255.9,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 5, scoreBits: "400006efdaf613d9", runnerUp: 4 }] },
        ],
      },
    ],
  },
  {
    name: "f16 V=9 D=128 small operands",
    dtype: "f16",
    vocabSize: 9,
    hiddenSize: 128,
    weights: [
      "01b2 f349 0001 8010 8a41 77f9 844c 005d 00ba f661 8028 0003 000d f32a 0002 8009 00a8 f0f5 8041 8004 801b 70ff 8537 0002 0004 6edd 800d 8002 800f 7526 8004 81a5 0745 6c3f 06ea 8001 0000 edb6 8002 8000 8320 7213 0253 8011 0021 f545 8001 03ff 86a2 f425 8004 8015 000d 707b 09b4 8001 809f 7743 0092 83b1 0003 76e9 8018 0000 8553 70d8 0000 0091 0bfa 7076 0001 880b 8001 f6a1 0015 8058 0001 f7f2 81f7 00a0 802e 77ad 800c 0019 0013 6de0 0000 069e 000a f0a5 0000 8030 8015 6f61 87f7 0087 8051 7613 82fb 8001 0977 f192 0001 00c0 8001 edb4 00bf 0015 003a 7252 8008 81f1 81cb f7d1 8000 0399 8051 735e 0000 8001 8000 f45e 0001 8148 0000 f09a 0021 8074",
      "06d6 7653 0085 8962 0004 77ec 019b 8007 0003 6dd7 8000 8002 0000 f07f 8008 000c 0249 f281 8080 05de 000f 725a 0926 804f 0003 f5a5 8003 80fb 0001 731f 01ed 8350 8001 edbe 807b 0001 00f2 6ec8 8009 8219 0057 701a 8017 8046 8029 722f 0019 82cf 0003 f6b0 8018 8002 06e3 ec54 8000 800d 0037 72f2 8001 8001 00a9 f4f7 8003 8002 0847 6ff1 0549 00a8 0003 f6bd 0007 800c 801e ed34 0001 802c 8066 76aa 8001 00e9 0b41 f6b9 8002 8059 802a f6fd 8002 8027 81ae f284 829c 825b 0054 f0cf 01f6 8018 0055 712a 0007 8bb1 83eb ecb9 0901 8003 0022 776a 800f 8001 8147 6ff6 0006 8101 0b17 eea7 002f 8001 05aa 748c 81a7 0481 84b4 f642 000a 8005 0004 f6f3 8004 805b",
      "803b f675 801b 0001 801e 6e48 8034 0908 8001 75e6 884f 800b 8001 71e2 0003 8080 8001 f243 0000 82a1 01d9 6dfc 0017 8117 844e f24d 890a 834a 8001 f0bd 0043 8087 8003 f5c7 8001 8014 8010 6cc9 8343 8000 8006 6fcb 00cb 800f 8023 6cdf 0008 064d 8002 f6e7 0065 8004 8825 6f74 0008 0001 8071 ecb2 802a 0004 0016 6f91 8018 0001 0044 6e12 0054 00b8 0143 7162 01a8 8024 8000 7360 0000 8000 0051 7268 0585 8000 86e9 6d9a 82d9 802b 8000 6f7d 0002 83a9 8001 779a 0014 0004 0115 75ec 8004 8000 8002 6eb1 8003 0001 0001 ef45 0043 004f 801f ee65 8000 02a4 80a6 6eca 034c 8053 0012 761c 004d 8278 850b 6f0c 0004 8004 0007 6eeb 0003 0000 054d 6db9 8001 0064",
      "092d 7112 8001 800e 0001 7208 8018 800a 8000 f2cd 0029 000c 8005 ee1b 0089 07df 0006 7172 0001 0058 00f0 77d6 0017 8002 89f4 ecda 0096 0045 00e6 71b3 8031 0082 8001 73dc 009b 002f 8031 7113 8000 80e0 097f 70ac 0001 8034 001c f171 80c0 0102 0009 6e77 0001 8000 004d f2f3 8460 8222 0001 eff8 08c8 8001 0000 72eb 0000 8329 804a 75e1 8001 8064 00cb 7082 8000 80e0 8009 7185 8001 004a 836f 7413 0001 0054 01e3 f7d9 0001 003e 001b 744e 81d2 0548 0000 6e9d 85b8 8015 0008 f45d 0009 8000 81d1 6f61 0000 8000 02ea f36b 0034 806b 8027 f7a6 8038 0001 0004 70d9 8006 0003 80eb ec7f 8001 054c 8033 f0c0 0006 80a5 0008 70e2 0003 8001 8002 6f5b 0416 0018",
      "82b9 edee 0001 8001 0300 f291 8007 0004 8254 7007 0003 0002 02e4 f487 002a 01c1 00ba 7272 8003 80a5 0002 efea 8013 002c 8004 6c8c 000f 8034 804e 75f3 000a 0006 0001 7135 0000 0001 02de 7322 0001 89c8 8108 73e3 8006 0000 002e f3e0 800c 0765 0006 730b 000a 800a 829b f1cd 0450 80a8 0001 f6b0 8003 0014 88e5 6cae 016d 00e6 80f0 f745 8001 8001 81da 7695 809c 800d 0017 74c1 8019 8002 00d3 ed96 8004 804b 8031 6d36 072c 0467 0aee f7e7 0138 8000 0003 7035 0366 0521 8284 6e86 0000 883a 8039 f6ba 8781 800c 823a 6ed9 8064 806a 0124 7129 88e6 000e 0754 f104 8447 81b8 831c f223 8001 8017 0002 ee9a 0201 0024 8002 f542 024d 80f6 001f f2c4 0053 0b3b",
      "0000 f286 0002 801c 8002 6f1b 003c 8018 0004 6ceb 000a 81a3 8001 ee8b 0001 00aa 000e f077 004d 0007 0006 edfa 0046 8001 01fd ee40 0010 005e 0039 6d91 800f 800c 0003 7442 819f 0005 8028 6fa1 004d 8619 00ef 76f2 000d 0002 000a ee38 0583 8003 84ef f07c 0014 8001 8011 f630 0002 801c 806b f33a 8000 804e 0010 f2df 0bac 0001 800a f75f 0006 878c 0000 7437 025c 0002 04c6 f1ac 8012 895e 000c ec82 0394 00f4 0000 7329 8003 0000 041c 6dd2 0b3c 0861 02a2 f6da 8009 8b61 800f f188 8013 0003 002c 7340 0006 0001 0014 73c4 8bee 80fb 0178 6cfa 0058 8019 83ab f42c 80f6 001c 0000 74d6 011c 0004 017c 6d9e 8001 014f 8000 ef85 0015 001d 800a 751b 8002 849f",
      "001b 719b 8031 0003 8bf8 f0f3 034a 81f7 0157 6fcc 02d7 000b 8a69 6fab 8006 87ee 0011 ee6c 0102 0009 87a2 ee5e 0004 803d 000c ee73 0006 0099 0417 700e 0009 0637 0052 7028 8077 899e 81e3 6de7 0000 0000 8027 7169 008f 0707 0001 f322 001e 8334 057d f31a 0015 853d 0000 76d2 0005 81da 0000 f5d0 0002 8004 8008 6ea5 05ae 82bb 8003 f0f9 8001 8038 8000 eeaf 0007 0000 83cc ed32 8017 8a83 00df f427 80a5 80da 8001 f420 0002 0001 80f4 6f93 0037 0019 82e0 ec0d 0447 8010 05eb 70e9 011b 0019 0043 6d9b 8011 83f5 855c 711c 085e 800d 0813 f332 88a6 8036 803a efc8 008a 000c 0a99 771b 001d 0001 83a0 6e3d 81a9 8037 001b efe4 8018 800d 8006 6f26 8494 0049",
      "8007 6f31 026b 81c6 0002 eee6 80ea 0044 0002 f58a 00b7 85de 0001 eccd 0004 0016 0028 6fe5 0707 8001 8001 72c5 0003 89ab 0000 71f5 8001 0003 8004 f64a 8018 0001 0001 ee6e 002d 8001 0001 713e 8004 0335 06b5 ec95 0047 8003 8001 ee5d 0001 8004 8004 7281 803b 012d 0069 7408 806c 80a3 004e 6f93 807c 0003 0327 7312 858a 0004 8001 f40b 0001 8390 8029 f509 00fc 8082 0006 eebf 8006 015c 0005 f4a0 8098 0002 0037 ec61 80a0 8a12 009d 7503 8009 0018 0000 f1be 80fa 805b 0028 f419 0008 006e 0001 73a5 8031 09f9 0363 742b 802a 0110 0283 f70b 0000 0582 8003 ef91 87a5 8000 0072 6cdf 01ab 8005 00c9 f00e 8168 8049 08ad 6fed 8001 8068 8001 ecae 04eb 8010",
      "818c ef50 85a8 800b 8003 f46a 0567 8296 000e 766b 8576 802c 0008 7053 8004 05ee 0002 f427 8000 8001 0041 f335 0001 0003 0006 ed38 800c 8005 83a6 6c44 8310 0335 00c5 ede7 0005 8001 0006 f08a 8085 8000 8bea ec55 0004 0001 080b ef67 809f 8002 0001 f04c 8001 03ca 0698 76bb 831d 800d 0082 74c2 8000 0000 00d8 f115 8040 0065 800a f2eb 03ed 0004 8002 f63f 000f 80e4 0005 6d76 8009 8004 8001 74bc 0018 0001 8351 f4b5 81ce 8000 00a7 77c5 8001 8004 06ab 74cc 0011 892a 0001 71ef 006d 823c 0000 f3ff 0002 07fe 008a 7207 80e0 800e 8001 ee12 005c 0001 8020 f43a 0006 800c 8003 70de 8001 8005 8001 f2f0 89cd 800b 0000 eee3 0232 8001 036d 71d9 0000 017a",
    ],
    hidden: [
      "c61b97b8 38a16133 b49fc88b b5fe6a54 45deaaf3 b3579a66 b7a45baa b4520c9d c6d95095 b435769d 33666f0e b4b36f1b 45d19236 388c7e4a b9402d61 39322366 45d5edef 38bdc68d 3917bdae 35da0986 45c6bb4d 32ee54eb 358ba4dd 334af314 45b8106d 330ba4d2 b5189b33 3399821e c5b6912d 363e2455 b4c2b428 b8ae6f3b c5d23ddb 3634d6b8 3902cae5 b38205b8 45cc1f43 35709fd5 b65e064f b36529b1 c6be7b52 3378c82e b929c0d9 32bb566a c6115e36 38b19dfc b5f5fb7d 3713b1f6 46e1558b b43217ee b28982b3 b37b5239 c5cea6f8 b3fe6894 34ad7368 b43895c0 c5e300bf b3c9a28b 38bc5a77 b43e2cab c5fca162 357ecce3 3954bc03 b4cc4ae6 45b1abb1 b7443d36 b62c542f b7e8afb4 46ca4958 34bddcdc b3f8e52c 32881e2f 46e0bca2 38cd6bd0 346f9a05 33b2622f 45d81497 b3386e0c 38361526 3854dd83 c5f6b89f 352afb63 b54697da 36508f77 c60347bf b59feab2 384022cf b42b71c9 c6929a0c 356ab6ce b666bc50 b4a277b2 4688d210 342aca1e b7d3695c b575c512 46974dd1 b75abd3e 385c063d b874b789 c62fbebf 39188c21 34fa27f1 b652ba21 46bbbb48 b6048482 b7dac9c9 b314203e c6f0be47 b675f832 37dda126 b89dd639 46287171 b747dfad 38d59c55 348bfb4c 461cf193 b77a5c7c 3542f2c5 392d6734 c654daa9 3700cffb 383965dd 389e9efc c63717b4 38dda709 b6294cea b8503966",
      "c679adb0 329835b1 351c7c3b 38b3b022 c67ca2e4 b53d4164 32845118 37ad0ed4 465fc211 b4d1fa19 b4d25bf7 b8643b6c 46ff5406 36a066c6 34f75032 35e14cdd 463b39bf b646acff b71bade9 b8358de4 c5a57dfd b4294530 b5371034 3825efba 45a85e38 3525334b b4f30153 b3444ac4 c62f2a0e b610ef8d b72ead94 34094f64 c5b39b50 b59f98db 37cae7ac 3608077e c5d9093a b66878b5 b2c04e74 b3288881 c6592cb9 b3091b3c b492ff48 b55698ad c628859f b4d9e227 b6dba3e5 b58a0d13 c6d4fab8 b34f90cb b8f60f54 35db6c4f 4638ee9e b7128f70 b897cfc6 34c5e75b 46cb1cf4 37c4ba5f b2ae5469 b77d024d c6dde7b4 347e2056 3331f140 361b0b57 45d243a8 381de3d2 38f9fc43 b389a4e3 45bfd7c1 38162e60 b39ed63b b444a18a c6eb888f b56e2cd0 b8784e5f b6ef73cd c5c140ca 341b793a b428ab68 35f07e34 c5d4e29c b8f11089 b6e84cf8 36508ef8 46481185 b7e46d43 b4549354 b3d06c7d c5888193 b475b8c2 b4c52316 b3d13acb 46338b7f b3559ee0 357da0dd b3a79794 4648a5d4 b42bbf41 b8c02ff7 b65414b9 c5c72e57 353f62a3 b78873cb b52cf981 459d1a44 335716fe 35ea5e8d 375b8b1c 465d3680 340cddb4 358d234c 32d4e4c0 46168f0c b368f235 b755864c b4e0b73a 467dfecb 331a34ba b4a69570 b4c1c7f7 45973bc5 38d9a814 37320557 38a87f61 c5f35871 33564b82 3536bac7 391a5279",
    ],
    calls: [
      {
        temperature: 0,
        firstSample: 1,
        samples: 1,
        rows: [
          { seed: "ea6361c7665d1e12", sequence: 33, position: 4522, draws: [{ token: 6, scoreBits: "0000000528928000", runnerUp: 8 }] },
          { seed: "0000000000000000", sequence: 0, position: 0, draws: [{ token: 4, scoreBits: "000000050faa7000", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 0.0001,
        firstSample: 2,
        samples: 1,
        rows: [
          { seed: "ffffffffffffffff", sequence: 4294967295, position: 4294967295, draws: [{ token: 6, scoreBits: "0000000528b8bf0c", runnerUp: 8 }] },
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 4, scoreBits: "000000050fbea07f", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 1,
        firstSample: 0,
        samples: 2,
        rows: [
          { seed: "6f688ffb9197f4ca", sequence: 23, position: 261, draws: [{ token: 6, scoreBits: "0000000986546440", runnerUp: 8 }, { token: 6, scoreBits: "00000009ec871900", runnerUp: 8 }] },
          { seed: "d068c9e6bf6a3ccd", sequence: 24, position: 3890, draws: [{ token: 4, scoreBits: "00000007c414fbc0", runnerUp: 8 }, { token: 4, scoreBits: "0000000869936580", runnerUp: 1 }] },
        ],
      },
      {
        temperature: 255.9,
        firstSample: 1,
        samples: 1,
        rows: [
          { seed: "0213af595c799f7e", sequence: 95, position: 4689, draws: [{ token: 4, scoreBits: "00000a67b0fce595", runnerUp: 2 }] },
          { seed: "09da71d67ab3cb25", sequence: 9, position: 1735, draws: [{ token: 3, scoreBits: "000003ffdf3e31b2", runnerUp: 4 }] },
        ],
      },
    ],
  },
  {
    name: "int8 V=12 D=140",
    dtype: "int8",
    vocabSize: 12,
    hiddenSize: 140,
    weights: [
      "cd c1 38 77 ac 5d bc 7c 74 a8 6b ad 9d 24 70 83 aa 33 d0 4e e9 f8 49 7c f8 f3 5d 77 ec f9 1d 95 c8 27 3d 23 26 12 c7 1b bd d1 35 ae 64 e8 f7 57 ca 4f 39 0e c8 64 0c 66 f0 d3 2b fa 75 9c 0a a1 04 c1 1c fd 79 85 65 20 a7 cc 07 15 ca 58 21 84 af 05 96 a6 4a 53 01 65 09 27 76 5c b1 ea 5b 21 a5 6b 40 a0 dd 9e f6 62 aa ec 52 6f c6 52 38 8c b3 b2 f6 9f 46 9a a1 14 a0 f5 24 31 c1 1f 1d 6d 67 be e3 85 0a e1 97 be 70 51 cb 05",
      "0b 08 c8 e1 ec 8d 76 80 ab 7e 36 b5 26 7b 4d 51 29 a3 7f f7 ea 29 f1 43 32 ef 4d 88 be e0 90 9d f3 f0 d6 55 87 1e 03 75 08 29 2a eb 44 12 4c 79 71 42 37 6f ab 81 9c 80 bd e7 31 ae 70 b1 fc 99 0e 9b 0a 2b b4 ed 40 8e dc 69 c5 5a d5 4f eb df 29 16 11 88 dc b4 ad 6c 36 b7 53 df a7 d9 14 49 89 b7 c8 89 62 be ba 82 81 fe c5 6c e0 66 ab a0 3b 92 73 94 7a 3a b8 81 ed 0a 03 2b fd c3 88 23 9a 4b 93 32 66 e1 06 d5 a0 2d 96 46",
      "59 86 48 d2 3a a4 e5 ae 53 a0 5c c9 34 5c 39 77 56 2d 94 d7 f4 ce a0 0e d4 c1 71 ac 0b 1e 1e ca 9a 3e 15 47 15 12 a8 c5 55 e5 57 e9 ed fd 3b 0f 4e b0 98 8a 0d 5a f6 41 b3 41 57 3a 30 d9 7d a9 14 70 80 34 fc 9e 53 58 40 29 d0 bf fb ec af 56 dc 04 cf 1d 8d eb 4c f0 98 ec 87 a9 c2 ae d0 47 29 fd 48 4d ed a8 cb 3f 48 37 f9 82 bc 61 15 22 45 3c d5 d9 e0 2c 92 56 b3 fc b1 eb 22 9e bd 86 26 71 8f 88 7b 3e 92 e7 5e a1 67 c4",
      "5b e8 7b f7 bf 48 62 b1 45 33 fc ba 71 25 c0 81 6b ec d9 c8 a4 7b f8 3f 42 38 64 80 b8 78 78 15 98 e5 6e 53 15 15 2f 90 6d 4d 09 ec 98 0e 48 ee f4 0f 0e 8d f4 c8 0d 08 f1 75 52 b0 1f ce 4a 34 71 d3 b1 ed e9 af 93 c9 88 68 e1 30 3c a7 41 82 d5 e8 01 1b 70 ee 75 27 55 0c d3 2c f9 c5 7d ab 40 b7 75 e7 e6 68 33 3e 01 3f 37 93 5e 58 fe d3 15 4e 88 62 0c d1 a5 0d 69 63 29 d6 e6 a8 0d 3b 66 85 25 d4 78 06 84 15 95 64 53 75",
      "5b 2d 91 0d 8c ea 97 41 b7 8e 9a f8 ca fb 53 40 ec e8 3c 2a 0f 6d 3d 78 21 bc b7 24 fb 5e e0 60 b9 fb 59 d2 1f f9 6a fa 28 c2 35 50 36 b2 ac ea 1c 7e 4c b2 4d e3 e8 88 e7 80 ff c6 ee 9b 9f 59 60 3b ca 72 aa ce 5f 09 d7 9a 33 41 fa 54 1b 34 42 17 01 c9 0c a8 3e ab 5f d4 23 34 13 33 c2 ad d3 3b 69 1c b5 8e 15 e6 48 85 45 3e 1b b9 fb be 13 9e f4 53 f4 a7 f9 fd 24 ba 49 7a e7 86 f5 9b 11 71 6b 9c 77 e7 67 b3 95 4e 36 d4",
      "98 9d f4 12 3a e8 29 79 94 95 46 7b 28 dd 84 ae fb 1f 25 b2 0a b9 06 f7 f7 40 2d 4a 68 7b ab 69 27 76 4c f6 47 4c 65 9d 5f 5e d0 7f 92 3b 93 d5 53 48 b2 7b 5e ff 0d d1 5a 5e fd 8b c1 89 86 f0 8f e7 cf 74 7f d8 43 44 cf da 5d a2 f0 d1 87 ee 70 27 80 50 54 3d d2 8d 4a c2 85 aa bc b1 73 54 6f 5a 80 6c 8e 28 93 92 71 9a 3e 0a 50 52 9b 8e 4d 53 c3 de cc 65 11 6a b2 99 04 31 3a 61 9a 8f 21 bb 5b 96 5e 68 0d 4a f3 f1 92 e8",
      "cc f5 14 da 7f 46 1b f4 23 08 9f db 11 bc e4 f0 5f a0 73 5b 55 d5 3f 13 3d bf ea 82 81 78 22 9e f4 f7 dd 96 48 62 c5 85 18 9b f5 af 8b fb 16 f9 d2 9f 44 6b 87 c9 1e f1 fc 69 37 41 ac da 14 17 5b 4a 9d 46 0a 97 3e 29 a1 f7 c1 4b c8 99 d4 6e d3 12 b1 fc b4 1f 6b 98 46 47 3a 80 2a 4b 73 76 8f af b7 f3 7b 59 b2 67 02 ca dc 74 5d 0c 3d 68 57 c9 13 86 b0 c6 24 29 d7 aa 6d d9 d1 ba d3 bb 1d 58 75 0f af 44 6c 89 c1 ba 47 68",
      "22 0d 3e 65 c5 ad fd 5e cb d9 71 b2 79 22 9c 0d 7b 79 4d 78 13 d2 b3 a1 b0 14 4f d0 76 61 2d b2 0f bb 6c 9c 9f 9d e1 82 4f 8b 72 49 fa c5 58 33 10 f5 d3 64 af 96 95 9d 86 65 c5 96 3d f5 49 1a 82 2e 10 e6 f3 50 8c 6f 98 08 f4 0c 25 4f 87 ef 54 d7 00 87 d3 b0 84 10 d7 87 1d 9a 36 e8 15 19 66 f0 70 16 98 43 79 fa ce 30 d1 10 5b 7f 14 95 ef 53 ae 95 a8 98 9c 11 20 a4 f3 81 a5 40 e1 34 60 b6 18 53 e1 6c 58 74 a2 f2 f7 48",
      "dc 75 c4 a8 52 a1 aa 26 57 ec 89 94 af be 68 55 81 3a 80 42 ad bd 47 30 03 d1 db 73 83 97 de af e1 aa e9 c9 e3 ab bd ab d6 49 b1 e8 42 99 f4 01 00 1c ac 48 72 23 f0 4d 43 37 89 ce 39 f5 a7 ce 2d 9c 65 a7 54 56 a8 a9 9a 1e 7a e2 95 94 b6 ee f9 9e cc fd e8 3f 21 75 8e c7 28 0f 5d aa ed 91 3f dc d6 12 57 a2 25 da cf 74 e3 42 3b 4d 3f 92 c7 56 10 9b 9e d7 8c 1c 29 16 cc 90 79 05 83 e7 5b d5 57 17 c4 2b 3a 93 ab 75 b9 fa",
      "16 b1 1b 27 e5 08 6b cc 54 f9 c2 fc 80 6e 87 34 29 da 8b 32 b1 48 df fe 80 69 d7 f0 4f 38 f4 bb 2d 12 01 b6 d2 e1 6e 11 29 1f 7f 15 4f 38 38 3b 21 97 e2 b1 86 94 89 84 9a b1 ea f7 22 19 f4 e6 88 d3 7f a4 0e b4 4c ee 2b 3c f4 1b cb 81 58 2b 09 af 28 70 31 27 8c a6 5f 79 b6 89 14 d1 e0 0a d3 8a 34 72 b6 f9 03 b2 c2 3d cb 53 3f 4f 43 b9 d3 bc 49 ff 2e 63 05 fc f4 54 0e c0 eb c4 79 61 77 b6 50 61 69 1f 9d 6a b1 a4 bf 1d",
      "a3 b2 81 45 e5 a0 10 37 7b 0c 3d 7f 5a 96 ef 72 65 94 cd c2 42 0a 58 ce 42 af b2 85 28 a0 86 e4 00 c7 e5 a1 fb b5 7d 18 18 cc b7 b6 0b 59 3f fe 53 3b 16 06 e4 a3 c5 e1 69 4c 69 70 b1 f3 df bd 6e ef e5 83 ad 55 ed 26 67 28 5d 79 8e 91 7d 85 89 b8 68 93 b3 ef 48 df bd ab e6 02 73 e2 7a d9 fd bd 89 bb fc 99 cf 3f 13 af f9 08 70 0a a5 08 6b 3a 84 45 e1 c1 55 65 e3 e3 db ae c4 4c fd 93 d0 56 05 9e 08 10 8b 3a af 67 ef 4c",
      "1c c4 ac be dd d2 37 a1 7e 75 60 18 8f 73 3f d0 c4 90 f8 db 82 d2 68 02 95 6f c3 0a c0 ba 9f d4 67 24 3b 23 eb 52 af ed 0f fb 9a f0 1c 4d 29 99 8c 27 6f 3f da 99 ee 06 0d fd 47 85 f0 76 a7 a3 88 d1 03 47 34 e8 ce b6 0a ef 52 5a 37 96 6f 60 b8 9d d4 7a c4 30 4f 85 88 d5 92 db 05 70 a4 49 5d 7e c4 41 6e 10 14 6c 2e 40 5c 37 2f a6 34 e2 e6 5b 81 41 90 03 fb 56 5a ef f8 11 31 6f 33 51 c4 f1 b8 4c 66 10 85 8e b5 65 63 73",
    ],
    scales: [
      "3ba87bbf",
      "3b2d1eec",
      "3bdff031",
      "3b74dda3",
      "3be21800",
      "3b67a119",
      "3b7deb38",
      "3b032ccd",
      "3b4362b4",
      "3b7010cf",
      "3bb0adbd",
      "3ba04e1d",
    ],
    hidden: [
      "4039ebe5 bf2b649c c04eceac 3d545c7c 3fa32709 bff85ca8 c075fe9e c033ebf0 3e7cdbd0 4052e4b6 bd4df25f 3d72f144 3f112911 3efc12ad bf9e10d6 bda0f106 be6f632e be62aecc 3e5c80d6 3f2af898 3d1a3730 c078be10 bf08e32a 3fdea5f7 bd3df7ae be48bdb5 3e67d528 bfc301dc 4061b22c be0140ab bffa4a95 be7178de be19a0be 3de64c35 3dc69024 bf2f3599 3e9e6fac 3ef78fed 3d79ff16 bf053b65 bfb968b0 bf85748f bf4782a1 3de35be6 3f7e3385 3f1558a0 bd0c3bbe bf2d2c2d be6791d9 3eea3e9b be9d1790 bf032827 3edb023e 3d982afe 3d9c2ec8 bfd3747b 3f9a2e5f c048da6d bee6c076 c01ce4ca bff1681a 3d90ac03 407f3e4a be3ca33a 3fc50791 c03caf45 bf7ccfcc 3f73dbe7 3da62429 3feb6a53 be8877d1 3d101c0e 3d8a4e08 bfab0889 c03b0647 3e13f2d7 bf21902b 3f97b1c9 3d19ae04 3ddd8b1a bdafe636 bd6a6438 bd8c6ef9 bf4ed416 bd75a32f 4039eebc 3d845b57 bec04546 be381249 bfe004a9 c059bf0b bf52bc73 bf50c478 3f493b34 3ec0262f bd538f98 3ed49617 bda2918b 3f51ff45 405b43e4 3e4785a0 3ffc94d8 3ef11896 c0522ba6 3f29d5ff 3db6efae c05f94d5 3ecaac4b bfb15750 3f3a8032 bd35ff48 bdf001a1 3d7401cc bdb69d9d bfae3c23 3d2862e0 403efed1 bd382a9e 3da80cd7 3d3fd750 3fd3f06e be1539c0 3dd1c92c be491642 c0725e8b 3dfd136e 3d26806d 3f98fc04 bd553545 bd52eb5a bee60834 bf2156e8 3d08af23 3fe07b88 3d635263 3deb7164 becb7fc0 3e348a87 bed1e913 3fb368ce",
      "3dd56941 3e8c65b2 be3faff9 3ea41039 bf0c8585 bf078bf0 bf634400 3d65751c bd13ab14 bf6842a4 bdbcca88 3d8056bc 3e6aa902 bffa2837 bdb71b03 bff9c4ea be2878a3 3fd75dde bdd306d6 bd9110c9 3dbb3c66 bfa19bc1 bf7cc7ed bf5f6410 4040f0cc bfea0217 bf520fa4 3e6829cf bfcedd94 3f91ee76 3d08db49 be8dfa29 4025a726 bf622f64 3d298806 3e5163a2 c04e347f 3dab4c29 3ed49ebc 3f7ecf62 bf674015 3f682c2a 3f0e7ee4 3e469e7a 3f6df482 bf786d23 bd0766ac 3ece2de5 bf20525f bde1e909 c0616350 3d151273 bda6867f be8f7b10 bfd5fbda bf7b16ea bfca4797 3eeeb25b 3fd3f522 3d5b8c59 3dbbf8db bf10b9b5 be1c0c91 3dfdccce bf914eea be44303f 3f142068 3ff67027 3e7fa9a1 40614bb4 bef6bea6 3fa7b429 be21cba8 bee6e974 bd416b0e 3e16949f 3eb3f791 bd63de21 c05db384 3d33de5b 3f6e0cce bea1c6bd bdaf9196 bd574745 bed1f9d0 4052b143 3fc0cce7 bd458662 bda47b67 bf8e8584 3e0df3bb c01a6b2b bfc5da84 3fab2eb7 bd7c294f 3db64747 3f5ad79e 3f9813dc bd987ed9 3e9f53c1 bf793bb6 beca92a8 bebd7a24 3d94e671 bdc23134 3d240c65 bfe3679d 3f127c31 bf20bce0 bdbcaa1b 3d347a63 bdcd63a8 3fb3605e 3f4512e8 3fd1de3e 3dffd9e9 3fc93bd3 bd85dbb5 3fd95981 3feb4942 bd87658e bee8623e 40100433 3f19d44f c06f4281 bef28876 bf89917a 3feb5d72 3d01f8ce bf152793 3da0bab6 405c142d bf05a332 bd68b0f9 bf717170 3f21317d 3f8eda5c bdf9f476 bd07c97f bd1b7d19",
    ],
    calls: [
      {
        temperature: 0.0001,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "7ac2f20ba84d7195", sequence: 4, position: 2444, draws: [{ token: 11, scoreBits: "0000000492ecfe3f", runnerUp: 1 }] },
          { seed: "feb749120238712e", sequence: 22, position: 516, draws: [{ token: 7, scoreBits: "00000004634e24da", runnerUp: 5 }] },
        ],
      },
      {
        temperature: 0.7,
        firstSample: 1,
        samples: 3,
        rows: [
          { seed: "0000000000000000", sequence: 0, position: 0, draws: [{ token: 11, scoreBits: "00000006c28869c7", runnerUp: 1 }, { token: 11, scoreBits: "00000007be57c66c", runnerUp: 7 }, { token: 11, scoreBits: "00000007d2849373", runnerUp: 9 }] },
          { seed: "ffffffffffffffff", sequence: 4294967295, position: 4294967295, draws: [{ token: 7, scoreBits: "00000006ad632fd0", runnerUp: 5 }, { token: 7, scoreBits: "000000068bb7eb33", runnerUp: 5 }, { token: 7, scoreBits: "0000000701b7c231", runnerUp: 5 }] },
        ],
      },
      {
        temperature: 1,
        firstSample: 2,
        samples: 2,
        rows: [
          { seed: "0000000100000000", sequence: 1, position: 0, draws: [{ token: 11, scoreBits: "0000000a1ca9ee34", runnerUp: 2 }, { token: 11, scoreBits: "0000000943768c34", runnerUp: 7 }] },
          { seed: "00000000ffffffff", sequence: 0, position: 4294967295, draws: [{ token: 7, scoreBits: "0000000780dd191e", runnerUp: 5 }, { token: 5, scoreBits: "0000000744495bdc", runnerUp: 7 }] },
        ],
      },
    ],
  },
  {
    name: "int8 V=5 D=64 saturating",
    dtype: "int8",
    vocabSize: 5,
    hiddenSize: 64,
    weights: [
      "2d ae 16 0a ac b2 0a b4 ec c4 68 bf 80 dd 14 52 3e 4c cb d9 f3 d7 6a 63 b1 b4 bf 06 fe 15 96 89 b1 54 12 93 23 db 62 1d cb 2b d9 cc 50 9d 80 31 71 94 82 2e e3 c7 7f 6f 14 81 1a 5d 66 43 55 06",
      "dc 98 d4 4e 16 19 9f 9c db 01 78 f4 41 7f f8 64 9f 1e f2 2e 8a b3 eb 45 d4 3a 40 4b 0b b3 05 3e 9b 4b 68 a6 bd 42 33 23 82 99 a5 ee 7c 59 c5 8a 39 6f 40 bb 3e 63 1d 73 6c df 8a 67 ee 34 f7 e8",
      "4f d1 c1 fc bd ba 20 ac 33 a7 62 34 ac 33 28 64 dd 03 b6 63 08 07 4a b9 13 0f ff f3 b5 80 ca 0d 9b 78 37 38 e9 0e 33 dc 4f 70 7d 13 83 8b eb a3 5b 2d 4b 58 6a 61 80 95 3a 75 b0 cb b4 e2 90 e7",
      "6e d4 fa 26 8c 50 ee fe c5 d0 ca 55 c7 9f 4c f5 01 7a e0 86 b4 79 4b 0d ce 9d 1e e9 62 10 ca 9a 0a de fd 02 82 64 0b 30 3b 3e 1b b5 1e b5 46 37 21 dd bb d1 92 86 90 cf cc ec 5f 7c f2 5b bc 14",
      "62 0f 36 85 3b 0f b9 d3 b4 d9 ac 1f 06 91 b7 29 f8 cf 01 90 44 f1 92 51 24 f2 d5 8a 22 ef 73 ff ab e8 07 43 ed b1 e0 8d f7 7f 26 19 9d 56 d2 5d a9 6e 1f 55 12 dd 8d aa d2 c2 ba 59 96 f9 f7 d9",
    ],
    scales: [
      "4df9fab4 50323d34",
      "5070687c 4eb528b6",
      "50518c55 503e3fe8",
      "50056a74 4e0e6d28",
      "4fc2095f 504d6881",
    ],
    hidden: [
      "bdbdf05f bd2850cb 3d96cf6d 3f16eafa 3fb43920 bf234caa be00cfd7 3f1d8ef0 be922587 3fbef626 bffe871c bf0b2b3e 3d25072a 3d92a856 3ea0c08c 3f8c4f1b bf5d3ef2 3f9367a2 3f8c0e4c 3d481f98 3d378f44 3e7398d7 bef2a3f8 bf06d8ae 40111dfe bedd6178 bdc5f665 bea7ca90 3e64e5eb beca3364 3fcf0003 4010d11d 3f89790f 3f009c75 c02c3e10 be07a66a bf9b5d64 c0387adf bfc17549 3fce035f 3db1eee4 3f47fd1e 3ddd4f37 3da40606 c0617d9c becce393 3e3b1206 bd97e1b3 be11b4aa be6f5a2c 4061fe68 401a3d78 3ff17b31 3d134324 3e7e22eb be711db9 bf0aa633 3ffb4c75 be3c6b93 bd2e906a 3f9deb71 be8d82af bf82dd40 bf572697",
    ],
    calls: [
      {
        temperature: 0,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "9d2ca8b13ca9f027", sequence: 47, position: 2921, draws: [{ token: 4, scoreBits: "4000000000000000", runnerUp: 2 }] },
        ],
      },
      {
        temperature: 0.0001,
        firstSample: 1,
        samples: 1,
        rows: [
          { seed: "a4581ef634be6db8", sequence: 84, position: 1220, draws: [{ token: 4, scoreBits: "400000000015ef26", runnerUp: 2 }] },
        ],
      },
      {
        temperature: 0.7,
        firstSample: 2,
        samples: 3,
        rows: [
          { seed: "ffffffffffffffff", sequence: 4294967295, position: 4294967295, draws: [{ token: 4, scoreBits: "40000002f7976d73", runnerUp: 2 }, { token: 4, scoreBits: "400000030619347c", runnerUp: 2 }, { token: 4, scoreBits: "400000022cd04c1a", runnerUp: 2 }] },
        ],
      },
      {
        temperature: 255.9,
        firstSample: 0,
        samples: 1,
        rows: [
          { seed: "555a4b99beb80d71", sequence: 49, position: 297, draws: [{ token: 4, scoreBits: "4000034d84ba0380", runnerUp: 2 }] },
        ],
      },
    ],
  },
];
