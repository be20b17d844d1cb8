meta "producer" = "ingot 0.1.0"
meta "source" = "shufflenet_small.onnx"
const c0 = tensor float32 (24, 3, 3, 3) base64 "KWa3vShBnD5psR6+nXtVvab4Xr6+aI2+Ml9Evpq0mL3Po929uM+UPkUkBD5LS60+YIRaPjNGRT46Z56+NTC3PcQO0r1INR698gO3vYBYLT4ziHk9o6wnPQSpPD3gUic9ILONPET0Kr9AMu29F0aTPlFAdz6YkBI+02UFv6Mh4j7bobM+Jq61vgGC870ddEy+AGHxvq0uRT7KoF4/E7sFv0So4r65Aac+RD1zvADmE78SZ7M7pmKePsex/b66fpu+xYAZP1TEbr6/+rK+B3p/PlnjYT5gKgi+7D7nPnZJsT3XPPW846dJvjFpr76fn868sbEhPuYpW76p04i+9SSVvrN1DT51vZ++fx5uPgOlxz6fR4M902iZPsx7yjt6RQA+jJXPvjDB9TyVyEo+5cC9PTLIpj1nKOg+W8kmPmkUZD5fIfy9/LDpPYIhyLwkZIm+kQOFPWvKKj5qEBw8MC4KPrDFuTyP/6A9Lg33O0VDiT4wwTo+gKUhvfr+SruO+70+MZQVvdfv2j27qDy9b+d+vR4xIr4dvp28MPppPiaqsr3my4O9HW4nPtp42b2MG0a9z0BPv7/YTz8fYMw+gfp9PXxwAL8jFZY+R5esPvmxZT4kH5C+zRxhPlvFHj3h8Ow+R/V7vvFiBD9DWzQ/1kdmOpxaGj/fPhQ+fxervgCBIL2OjDs/vJRhvNSqib3mYu0+7ppiPRz8XD5i3I4/MH4EP0oVqD7vSka9ezt/PYovTr6FV2Q+aB+zvfbAhr92ZrI+vtaZvvFEB7x2ycM+22iAPrjYvzyJDSw+2dciPW2GjD212c++h76FPiiY4j0gnGy93zsTvi2mob5sXZg9xBLIvrgHcD5B+5Y9PyAAPvtRRrzkn1G+qEY7vtHtKj4oahK+gmcovbtG2b5MGpq+Anb+PlhJZj5WWQ49hq3TPW/Nhb6ZRvI+xUAyPsQPgjvndDq9ahjJPM3uDL9Hcc+9D1uLvu3VHb5914Q+MIddPcnUTb4T9vg+dfRgvns+/bxz9zI+de/yvbjgH76M8x+8x1RjvdjpqL1jePw9ugoPva8iiD29WvC+vjb1vokeZb68bIk+uJYEvn2Fsrw0J1W+EiMOPkLGw7y1hgY+VDZuvtL3N7zGw4E+RG7EvUfhH74bRBU9ijXQvEeycT28J4E+4y6uPkTcXL710L4+NOGUPncQ5z35c4y+m/zQvs2jBb6mbac+v7Ybvi/Ilb6oSu87l7JuPTiyD74nM8m9J8eGvndtST5ZJHc+T6G9OOzygb68diA+LJJ8vh/LpD6zxLm9weDvPrdRi72nbv0928V7vc5ABD12IJs+4mnTvcrLBr+ab4e+AewQv2KrJL60LOA+ZfwGv3MfyL7wWTI9LUtwPrvlRzxdtiA9JfbEPcxywL1sEMq9DheXvaqiEDwooSy+7JgqvhCjdr0WwnY+hyYnv1Ej/D7yUsA92a7wvhtqzL6Lhgk/ZPeWPgD2Cj5egIS8T4/kPk8X5b4pQaq+qjFXvq33Kb5t7d6+zQGMvTQv0T7j7qE+ZFaWvsO0qj4vNv69hlorv22glL6zngW/qVptvIs/XT+bg9U+baKYvpIL7L0OTWs9HTanPWpD0r2CWMA9di5Xvg8PcL6jRaa9NUYWvhdPRz5siCk+LlIcvZ2l9zxoIq2+ZAbyvTBmt707+YI8M22SPjSpeb6s7T2937eLvgRmbD7AnW68k6D8PmYrnb3W18e+48o/P6Jvwj4xFPi9a5yVvvHrmr4tQLE+ECO3PU0rTT0JygE++2bQPibOJb1y1QG+8gEoPpRJKj7/Igq/HSNVPveKaT6xOIi9pMZNP35QxD4l4Mm81IvvPEEBBb0EZ1Q8Zl86PukAwr7hqaI+RFKSPW21N74AcT4+CIiHvqbcDjzCByO8tmWUvu/bYD+HYae9fyfBvW+F7j6v3ky+1EdmP5Ya4r0ft5A9Wz/GPINMGr3VMaq+j1xsPkgTdT4uOkG/nVYavvJ/sL6EENa9J9ZEvvqMQD7qAmO+xaMwPuOyyr5JB1M+QFmvvkUKk743kUS9RRqbvpC8ST+eQL++WPuQvlOGz7rFOIW+euIKv50oU76wPlM9MpEmPveyr75B4gC+JnzjPHzI/z5V1hi9G5dfPb1C4L5w7hW9DmYjP1dswj7Jh4Q+nLwqvsxtX75BQEY9N2ukvUPnOT2DlWy9LUhxPVCqCz7t9fk7qek8vtJH67yRwPc9wQ+KPnr3m72HjjY9zeS5PapU/L18uf49EvFWvbxk2L1Furo868TTPZUQKrxJGyU8sIRMPg8ler0TtuC8k9cNP4bj3j4xM5E9fQlJvwQuCD/+YJS/xwNCP49hUL7vjm+/DA7JvpxQaz9VdJY+q1ywPkfDrj7su6w+MO4KPnV0MTpjLdw+TKPavqVbkr3O5TS/rX8uP7sreL5pSvs+ODMsP+x/Tz/R1BM/aDNEvm5Ygr4TuoK84sY5PjJerz0phTa+l77hvRJjnL3HBqc9xmhJvlCTz77OBRo+iilfPXAPRL7/Vwm9z1QJvrHwvD4GnNs+RnoPPuRbojwCn0a+8+TgPnmxlL1ky8O+U8WnvVBcu77+7IC+Dm4ZPoTZt75JdHQ+SyI2P5igOz5tCZ8+PcBmvYZZID5f5L2+E/oDPFV90Ly3bxk+VV86PK3gHr1tqj++vDwAvYUidj1bFcg+NO+IPuaPlj7Ae4c+cT0uvtPJGz+G3hy9KQSBPvdsgL7pw3o+p8IYPwDwMj8lbYk+nzjVvlvCOb8QSRc/7QaJvkDUsr6/UJS+qiR7PWhHx71RGhI/iWJdv5a82r5zQz2+bIM2PngiMz7ncgy/Bj8XP20Xo740J74+ltOru2bXVL9xeS4/kvu9vvBVLT4aDH6++kJcPTrdJT7ARM4+9V7kPVaA3T2AfUW+oMUlPn+aTb/+5QK/qDwhv5QwJj+tUny/G8s8vgQQ7r4qkpy+XtvGvaDzNz7ep4o+QFwYP1MGBD8mToI9+xnjPelHsz0841e/TeaEPKe4Pz/UXgi9bcaRvRLtLT0UPek7MHFjv55biT4L8U6+jAOgvwMv0L5cl2q+W92kPnPmmr4VsbQ+GbTmvnRMtb6nYvm9ColVP3o2tzwXEhM+0CHqPvFHlr7+pve+UvAzPhRe5D10KAu/ni35Ps53mT7ix3A+JGfUvginZT7X0+u9X3ohvZi3XL5dem0+4hzuPeG5dr71y4o+SP+FPcceIr77aGK725k6vtxhJ736Gw6+r/e4vaXgnLy2L/68pjsGvshtAL7w5uE9AGHyvNy6vD1eIga9KVFZPYyi3L3rLyu+U9QrP+QvML74RU0/dhCavXTtEb+JFbi+dlMBPw6svL7KlpK+b50cP+q7Gb65P+u9CeXNu2OHnz6QG5e+JFH9vvmIj7wSswO+LGO6Pvggv740QpA97//EvgXTvj3RADk9XkjHvrXxIr5Dfde9"
const c1 = tensor float32 (24,) base64 "grVbvpfoPL7HzTW+yaE5vvXSqb7rOwW+LSRPPpfSAz5g0U++/PkIvjo6gz4/HMm9WKsxvViAfz7ZWmA9nNa9PQ+v9z1kI+E90NGnvZ3sbj4y1l6+LUyIPmCUCD2f19u9"
const c2 = tensor float32 (16, 6, 1, 1) base64 "XIFvPzFGBL+sUJq+sbVAP252ar9y0ac+2iUeP4PTAj8Xeri/1jCLv0B6iz+glPe+qDcRv8SdLL/PEdA+An8Wvq1S2T0ipla/6c42PoNe+D5zWOI9hiwFv4p00bs5XDg+l5khPyMMoT+e42k+yrAaP66lKr/lpou/GftAvv1nJz+BpUK9BzxUPkj6rr/lVw6/bMQFv0g5Cr6yVAG/vN9HvuwLDz7o5QM/Ic2evl1kCL3ZxmI/e3vQvfvxMr6NFxs//GRHvr5NvD4Cddm+kHASv8EqOD+cl6q9GsbIPuRWGT3/Xb8+nxqFPgjvzr3Q0FQ+mmh0vjsVJL9/UDS+166BPhfbkD8O79G+bw6aviQjAz9HCbA9IpRnPoqqgD603WC+KCHiPQr2oL+oX+Y9hoc/PgbDCT/gKBG/EMxQPzy7gz9prk4/wDRAvwOYgz/bjvg+L9CAP1vMOr+rCO4+ay9SPsYViD9c6Re+pNkkPnB6fz9FYXk+G9wNvAyYVL9HVYy7"
const c3 = tensor float32 (16,) {0.08735514, -0.28851837, -0.06605082, -0.19983089, 0.06185344, -0.03472755, 0.049429, 0.036976065, 0.1977111, 0.009179612, 0.014252048, 0.072753266, 0.03403521, -0.1596845, 0.0840059, -0.027245007}
const c4 = tensor float32 (16, 1, 3, 3) base64 "39l3PP2StT4oSj8++dOTPq2imb2FwS2+o25BPrLTA79NQ1E9uo9DvxQjKz9RTWs9nVLdvsrLIL2mp2e/DmuXvqaucD6OAJk+aEGbPS8Pnr6wg7G+9taUvcUimj62pkC+cBSQvvmt+z0mk0c+ughfP/3h3Dp5OD+/DCHvvnpox7wf2ky/8VydPoyo7j6vWzg907U2PvY7jT7pJoE/zz8Avwddmj/kvyQ/07I0PwfOdL6Rtvk+CSCqvniBtL296Ba+yvqovtBO/j0yWZy+9FcJPpkqzz7BpoK8QtvVvWbX3b4CRHM+oABzvZ+iQT4kf/K9ceMovig1u75mPmw+dGxhvkuMSD5sEtM+sqgmPi/7dD2eWGU+f2AcPjzgHjxFw72+BQ3GPjndSr+k85W+N5UBvuQNjL2D/AQ+bGhVP1/LuT5Aj3U+xAIHvyPIdb2XcsE+9jBkPhYlFL0ADeQ+g6KEve16+j1qWrq9wMrBPop98D5gMAC/Lj6JvjqZYj2t5QA9BCtPP7l8VD8DzOE+wPULP4KlEj+uNYE/5Y7DPoaDrL6wrbK+tKQKvwm2rD7TtKi+ZDTHvvlsyb6OotO+FqmWPT1tuD6335K+BgchvobDPD/nNSY/W6suvUd+mb5b80y//k8LP/lD2z5/vgC+O3i5vpALvr5Cgx6/FBqJPqgefz7xphg/oseEvtoz2T3Gu/c+3NKvvkdP2z4AAfS+2i7AvProgb3MV9g+tTvdPjF2TL6kjNG+5gi+viqCY77IfiU7"
const c5 = tensor float32 (16,) {-0.011988904, 0.17914592, -0.05330084, 0.25079197, 0.0037330636, -0.048253562, -0.055695895, -0.023734236, -0.09991321, -0.045052215, 0.07415353, -0.010621329, -0.20447326, 0.096030384, 0.29024974, 0.044859797}
const c6 = tensor float32 (24, 4, 1, 1) base64 "LaGPPUORnz5PtFq/c49GPgXEvz9XDY+/KvwkPzL5DD9LZcI+vTunPq/3Tz4QHnu/7xUhvvxgaT5GFD4+r4rfvr1FQz66mlc9n3wXvTewaT5nHqK/F5SEvWshzD6AXKM/ru6Av6VzZ78bYGG/9zWSv9ZFer/X8Ja/sTKlP0ibR7693gQ/fNHHPAhFlj2kuus+dVqyveQFlD6rj8++lcI5PoTax76vxCy/nZ5wPzse6T4qfEi+B0vxvRmkkD/PvhC/Rk+7vg0M1L7dNgM/TSwyP/SQYj3a7xM/KT1rvtJGzj//c4G+KVibP1fvT74bNxw/FDVGPbZj2j9UcNg+Jb2Uvm4uZj7pkgg+NJ1hvKcE+b7d7Wq/00AYv9q2Ob7QO7a+gjs2v0dPQT8ql3E/wGoIPybzJ79rfSo/bwQWvzASGT8Fd1m/H1m2PoeMsT06yHW/kEF6Pv40fj9P5TU+bOHzPz2U7j0YX4K+TV+jv2kG5r4WMok+lZOvPlukXr+ajLE8"
const c7 = tensor float32 (24,) base64 "QUQ5OomHjz79hZa+TkAyPn0lDj4L80s+p8oiPdTzsLwwY9c6JXoivXYBFDwYSnA9nyAIvpahD71d3uS8dQXkvGVBV77yYsY9JcsbvbeVKj2Ylpu9zgVNvusr0b10fZA9"
const c8 = tensor float32 (16, 12, 1, 1) base64 "da70vhsCwb6zE6Q/dDeUPnYeJD+CdGc/W+8GPD7krr6UfFi/2q48v94MaL6wsKO+7clCvQCEI75HIAo/PSNAPSqGTLw55K6+9XKcPoTYoj3yhm2++kSmPlb2sb7eMUo+SnyaPvJCo709UO0+l14NPh84gb4Fwde9QdqluylOH77yaac+qQqVPcT5hz4Jn3M+ddlDvjHy2j76H/u/TEqLPwNnvb4Pu9m9z0jevl3Xor9VfUS+KfeYvp80jb0HLzy9vg8Tvxj7GL73SZA9pfwpPZ8xJj8NY4A9A/ioPpiOfD/ss3S/czk6PiIXn77FlgS+JZvePk1y7j4OoL4++t82v6IwCD7P9OI+cV2dvvjVyD7XMcM+TpMovmyX6D10ihq+tzASvwyhnz6XBK++yvwrPpxHZD2otxi/wm6JPfqplz5LASy+eAvdPg2sVj20nOG+0Dt5vUESDL+OXaA+Np1hPupbzjy1uLC+aOG+PuYOQb58HzI+FfICv4qIkD4sQle+SytZPhIHEb+up8k+WqWBPTrLtDsLigm/iAr4vrkFg75PGIu+1gW+vuekhz4BOie/DCS0vdPyi75TAwC+92RpPgBOO74e0hA8S4mHvh55L75YDr6+J6luPO+dGz3WPI87L4gIPxqlhT4wU54+5Bc3P3JwGz1bjyw/j0wRvTTqLr80rKa+z8bNvJAQHD93nCY/fcugvqzdRL3ujfk+A5URPGuYf72erZ4/Nq6Cv7oajb76W3S/WcdSvomHUz/f2vI+SExTPkdlL77ghhe+ot+OPjoZIb20gvg9rWGIPpTcJj98jga+ijroPtZCcj4v8PU+vhvYvZYmbD6xzRE9VZz7PpreEr7JFCm+cbqBPsgQibwVB9C+qylePo9HNj+0hK8+7DUVPmWD7z5VM+U9YtUMP9OiVztAWok/u1fCPhJF/L7srvo942oAvi/4HT6wVZM+uxcfPiNXXD8e1QK+DiEJvlcpO74dxR8/A28RPwECPD5wFMg+4m+JvnTl/b6JAcc+"
const c9 = tensor float32 (16,) {0.017358895, -0.03594787, -0.08361875, -0.0779404, 0.2614217, 0.26434162, -0.011171887, -0.20853704, -0.08585288, -0.07746396, -0.12807138, -0.10856859, 0.275552, -0.00015451724, -0.189407, 0.08787974}
const c10 = tensor float32 (16, 1, 3, 3) base64 "ZeXzPweGoz/Ty2i9bZOYv+jsTr/keQQ/ikx1P3tpR79Y38A9JeMYP12gsj5tBlG+bNgqvUajVbxxBF4+bqWvPq8rYb8JGR0+2LyIvhG1dT7k+qe+vJSJvtnBSj7Ne7S+QZOsvrnhY70trW6+myyrPtmAFT4oz+8+gkmBvm3Kzj2MJlW+639/vnzfDT4mxuW+DxZxvdCJpjzQl8o+90VaPZfpL7+4v1k/K/CHvZSH4L4ggBI/EKUBPv0HBj6g0hs/5uyQvsC0PL+TJDE+4EelPnvEfD1H3XI/YaebvtExiT5tCRu+78bqPjTBjz6C1Q6/tCXyPtgqhz0C7BI+P0QxP2zf8z5E2AG/YXHPPp5b2DsGDiQ/JsfMu5CudLptAI0/shrWPXhmsD5UZya+YKDFPpZmMj5cZrM+D21vPvYr/D1ZSjG+VUyXv8fUz75nWJy+UVR4P9UDlL2joi+/7Ywdv4UiRT50ODQ/sFC2v3qZN7+72FS/hL40P0S5dz+BmbG/yeujPgImbL9dFOa/fZvGPTPfAD9lkZK+ACmLvSxujT1+D4U+UYYwPoIoxD6n5ba9aPYVvoViyb1DodW+SCkXvYYo373rD1M+6/IlvvTSoL4CFua9jfKmPlthk73gOug++glrPg1bPD8FVjO9rgX1u/3OGb4qkLE+FzzUvXuXjz7eDa6+RF2rPgw6RD+7MQA+4dMOPzPmHb+FTKg9GHGzPprxqj5ZbnK8ieAtP5Yqrb1q142/urlsPxWWIz9757c+"
const c11 = tensor float32 (16,) {-0.14840043, 0.13208517, 0.052360076, -0.16458336, 0.10315555, -0.0074485852, 0.064899944, -0.11566024, 0.05319318, -0.23244803, -0.2508902, 0.025301887, 0.0121483505, -0.08158008, 0.19216095, 0.058881756}
const c12 = tensor float32 (48, 4, 1, 1) base64 "04D5vVc0BL4pkA+/Qay0Pp0a9j5Pftc+oIJCPtIxFr6dB0q9Q4K6vMH3Cz4x1Pq+dgPhvpmUrTz6+ZU/HQkzv3URsb7pETa+sgYUvz+hI76cUNI+T+66vjE8aL/6Xo4+kNYavtfiNL9OZ4K+xKUDwMpUH78SErY+VgOTPwSUEr9teIQ/T6/OP5cRgD+5j/2+J7/yPtug+r4RR4a9WjpIP0dW+z6tb4C9csaLv1pWHD+NdCU+bU9xv7IfCj8OxSM+NpQavzbgpj5AbkU/2unBPhpmhD6VmrE+3hoZP0YBlj9JR949/TEgv+47Jr/PSyK/zhUlv992G74CtTW/it4sPaC7Dr+ZQFS+Pey5vzQSmT0nS00/TFNsPQazgj+ZaOK/58o/vobGKL5hBFe/SCjOvodavj5iWlE+uxkhP26JJcBqSYW/fVc1PzWMNL+94gO/6K8EQMOBXb4LSSa9wWmLPyxMWb7PcQk/C8KCvjlx/79XcJI+LMrUPVVOAr+A5Kk+hdsdvdfUOL8jRsI+H3E/PvGtYb8WArU/PQw6vznpqj4+RZi/URiVv6RQXr4OQjg++s6bP3jxAT4/KnE+NrWIvjWHmT+nYUc/yfu3PMGSTr6Sils/I+7ovkdfyz2GGYC+t20pPtenIr/KCAc+LRfTPGget7+g4Fk/xsCQvxcWib5U+RI+pT0KvgwCFz5oDz49cs0oPs/wsj6zBfm972BOvwbymbs5Onw90DanPeZJhz7VNfG+oPyDvsfQzz6P+j6/ZfcQP9VayT7lumU+yMz6vm+bqT4Eo6K9RycAv2pEkT5Z9Z8+L5UaPcUHnr2DBzm+gpQkvw+zMkDsUXK/fbgjQNQvNj+3lBu+KB0tPxrhY79LuTI+g7nHv1fdVj9KgJO/urRvPSNngr+hK04/GYF8vde4zr79SABAZ00qP8KinT6I3xe/nPemv5+yN78C2uC+/zRWvj0xQj8M1GA/bHbgP5Y1P0ASVfG8YKeYP/kbZT5OC+A9GOGjvpbSQb+VemC/"
const c13 = tensor float32 (48,) base64 "f+izvQPPHj3CBdq8RdM0Po20w73caQM+EfOlPdBT5b0Kw1K+LntCvkHgijspnB0+eVmLve2T9Tx1dY0+o9NVPIavJb6/U6G+aQDKPY+dIr240pM8acp/PZ8rhDyZxPE8aMISvoX3XjjrJA6+nt1hvvRtT76rZ5G9kEDIPK9olL2x+s8+8H6tPFSx0j1hi7a9WUSxPSV7Jr7skkc+Tuz0vXKRAL3iLmy9GrOUvThLPj55Cgi+AOwhvqhZAb5nPZc9"
const c14 = tensor float32 (10, 48) base64 "xjSOvBgNeTz5LoK7Q10nPEPGGjzovDm8cP8Zvcqzlzs6BKA9RqRdvMD3AD04slY8hEtnPJd0Vj2rmEQ9FjYovAnKdb1GWyC6++nxu+dJqL3dV1c9aUKaPM7EUbyQDo68QaV0PThLfDzlfG48SoCuPERjDb0kYoI8JsiNvC5H0TyPslA99YpsPJnhfj0S6Je8Qh2fPfypvDxe3sg8gTO7PJC84zxXFuG8mN5xvN4YCT3jkmw80TXDPJvl0Lz/uyI9NvGjvNBN0jz1wb+80nrxO18gSL2rl4K8lJ4eu893lDwGpGI8KgFvvK3sIrwyQk892UWTOzQ1G70fcHY8lvgIvfeEpTzd67k8r1ANPTG8U7xcCHS8MAXnu/BgX7xVx9W7Id/xvIsQGbynQey83jTSvGhcQrwmpyi9LQnyPG0Xsbtp1wy8Omgnuz9QgryKxQ476Vg0vFgN+7vvLNs8QMvCu0lIL719Cjw8Up0RPQ0x+Tsk30A9uW3PPFYlZT0Pm8O8v72QO4mnPLxcxcs85+WDPBidCD0TDdi8jUnwvHQL0zsGPCk9LOr1PJkIRz38+6u80ccRvOFNUztzhhM8sIpWvW0FFL0TMHI9u1j5uz4U/7tozGw8mQcHvIyRmzwXmxI90bDYvBHOlLxdNDy9il13u38nFDvmGGU94biyu0Olgb2XrYu80h6UPeZ2iT0SfRi95XoqvYIkbTwiENK7BlEDvazk9rwv2Eu9CIAFvNAioryToM+8Udw7PIwXk7wlRBA8R1xxPdReUL3+T1w9VQ7uPGbfEb3zKvw7bn/SPCT+7bxOS1A9DR5Zu4EwKz3dQtA8MsQQvYXbwbyoUcY8/k3Ku+ENuDz3j5S7VBotPcktNbvWZAY83PYVPARc9rzuFLS7Or1PPOceD7yZ4Im9fuG5vAEX5LvKGQI7zljnvCsZhryTxDy8YJNtu/wOiLxgOKY7uGe7O6OTbjxWww88B1EPPDcxj7xGDSc9qjSrvBvDk7ycNMi89Vgru0XgnTz6vVk7LXxwPHxExbwdXaI8563ePGzRmjyvZXk9m+bSO/gVEr2+XiO8ZbVNvMDN3TvpEda8YLLcPNargLvtjws8iJQBvWUuVrzMCdS8W+eCvP+4SDzumgu9BObFvGGQKD0tIku8YZGjPMumQrsXabc8tQXDvAorrTxUKSO8tcz5vKaFJD0bGZa8TYr7vEXzGT20sZ66fh2bu6suqLyMn4I8n3YevVB7hzs1hF67b2sjPWku3jtyAaY8fn1EPbYXFLxeBpY8/NZoPRQYrbpNGca8z9NBPNtB0LxN8mK9libBvD34v7znCr88Ms9/uose4TsxFiI8w5C6PJL0QTzJVwq96FM4vVnQyrsIY9M8EN4APViQPzyzH4u8J6JrvdGHK7zIjge9jHuOvCkdg71hk6q6r32jvG1mCjxJPOs6Recjvf9g4Lzpgae8IdCKvKp1X7x7MJ+8GRLfuN1N/TvA5bA8fSsWPYXKRLkdep08EN8xuxBTqLpSwW+8QJuTPfW/4zsV9cU8K2wePYchLrrt5uo75DKTPKsbzjzL4Pw65LugPBg4hjzNkLO82GKIPV7fpzrKR4C8RUstPYRsxzx2uVQ8HxV2vKIwGL0Ro628+BNAPdtXmTwrw5Q8j6WZPeWX2DuxrYs8QvnPPATc+jx6VWM9YK6EPBFEVbz5rbK8dfroPK2LXLvPODi9LbU8vLHXLLz+xWa9qMD9PDBqvjx7yMm8s+o8vcBX8rwlhxe8owbxuf0d5rwfMrq8j8FcPUH707yP5pI7D9xmvY0CjT1la9o8K868uwvoOjz+uiK9+bgSvRJ4CLwCya07Xd2NuyPxBD3Zc8K8AzarO3THBj0WMaY7Fsi0vKRWHj3dMrQ8kWApvVXDNz1VfvI8W1TwvEzDYDzFl3E82bSMPBWS/zpozNg8jLxHPbttdbyG1e27LVgUvRsWjD3Q6a88FgLMvC+uu7ywVpQ82JD0PJdiLrxZKsC88ue/PF6X+jwYP7S8Ns1wvHywzLwk9HU8dmwYPN5eA72K+Aw8IccCPc8UMrygUj48aG2hvKj3KLx04Kw8/hr4OwmCgzypRUE9WqsBu6sevzyahAc89KjruhptVzytOGE9rDvKvFE4+jx8Eeu86X81vSN4wjzUNQE9r2UYvZ6Dw7xe8369z17kuyomibz+OIO8MgreulVRCr3q2mM8quPCPOebMb35kc28Y9oSPbncOrzdPIS7/JekPLXgU7x4paI8O5vEPO2NkT2hq8A8M4OCOxu7L7s1fAm933eYPHGo9zydv+Q8vc6nPPNPyb2vVK88NfrpvGkvPj2/Uc88x5edPBh7GjzfLRQ7A/fcujU1MrwrUrY8+MKLPJp49rzzHyW9l3D8OwbMLL0yBEk9NfkWvcB4R7kfGqM8nRBFPYYAAz1YcQI92FIvvdEpbrzA4X48HjQOPKJcu7ynnCQ9mPNIvRwPA7wbTHK8HCj1vCzTWjwbhQC9UUfcOOcQWbmUHJI9E76CvINyET1TL+27rK9lPKhtDj2pHh260b+mPAmyN70OGKg7"
const c15 = tensor float32 (10,) {0.056046404, -0.025365079, 0.055791307, 0.028015817, -0.08229584, 0.032412283, 0.05134307, -0.14022955, 0.10359222, -0.1059584}
prim_func @transpose(x0: Buffer[(1, 4, 4, 8, 8), float32], y: Buffer[(1, 4, 4, 8, 8), float32]) {
  for i0 in 1 parallel {
    for i1 in 4 {
      for i2 in 4 {
        for i3 in 8 {
          for i4 in 8 {
            y[i0, i1, i2, i3, i4] = x0[i0, i2, i1, i3, i4];
          }
        }
      }
    }
  }
}
prim_func @relu(x0: Buffer[(1, 48, 4, 4), float32], y: Buffer[(1, 48, 4, 4), float32]) {
  for i0 in 1 parallel {
    for i1 in 48 {
      for i2 in 4 {
        for i3 in 4 {
          y[i0, i1, i2, i3] = max(x0[0, i1, i2, i3], 0f32);
        }
      }
    }
  }
}
prim_func @transpose_1(x0: Buffer[(1, 4, 4, 4, 4), float32], y: Buffer[(1, 4, 4, 4, 4), float32]) {
  for i0 in 1 parallel {
    for i1 in 4 {
      for i2 in 4 {
        for i3 in 4 {
          for i4 in 4 {
            y[i0, i1, i2, i3, i4] = x0[i0, i2, i1, i3, i4];
          }
        }
      }
    }
  }
}
kernel k0 = conv2d 3 -> 1 {dilation=[1, 1], groups=1, has_bias=1, padding=[1, 1, 1, 1], strides=[2, 2]} [relu(0.0, 0.0)]
kernel k1 = pool2d 1 -> 1 {count_include_pad=0, dilation=[1, 1], mode=0, padding=[1, 1, 1, 1], strides=[2, 2], window=[3, 3]}
kernel k2 = conv2d 3 -> 1 {dilation=[1, 1], groups=4, has_bias=1, padding=[0, 0, 0, 0], strides=[1, 1]} [relu(0.0, 0.0)]
kernel k3 = prim_func 1 -> 1 of 0
kernel k4 = conv2d 3 -> 1 {dilation=[1, 1], groups=16, has_bias=1, padding=[1, 1, 1, 1], strides=[2, 2]}
kernel k5 = conv2d 3 -> 1 {dilation=[1, 1], groups=4, has_bias=1, padding=[0, 0, 0, 0], strides=[1, 1]}
kernel k6 = pool2d 1 -> 1 {count_include_pad=0, dilation=[1, 1], mode=1, padding=[1, 1, 1, 1], strides=[2, 2], window=[3, 3]}
kernel k7 = concat 2 -> 1 {axis=1}
kernel k8 = prim_func 1 -> 1 of 1
kernel k9 = conv2d 3 -> 1 {dilation=[1, 1], groups=4, has_bias=1, padding=[0, 0, 0, 0], strides=[1, 1]} [relu(0.0, 0.0)]
kernel k10 = prim_func 1 -> 1 of 2
kernel k11 = conv2d 3 -> 1 {dilation=[1, 1], groups=16, has_bias=1, padding=[1, 1, 1, 1], strides=[1, 1]}
kernel k12 = conv2d 4 -> 1 {dilation=[1, 1], groups=4, has_bias=1, padding=[0, 0, 0, 0], strides=[1, 1]} [add(0.0, 0.0), relu(0.0, 0.0)]
kernel k13 = pool2d 1 -> 1 {count_include_pad=0, dilation=[1, 1], mode=1, padding=[0, 0, 0, 0], strides=[1, 1], window=[4, 4]}
kernel k14 = matmul 3 -> 1 {has_bias=1, transpose_a=0, transpose_b=1}
kernel k15 = softmax 1 -> 1 {axis=1}

func @main exported params 1 captures 0 registers 5 {
  signature fn(Tensor[(1, 3, 32, 32), float32]) -> Tensor[(1, 10), float32]
  names "data_0"
  storage s0 = float32 (1, 24, 16, 16)
  storage s1 = float32 (1, 24, 8, 8)
  storage s2 = float32 (1, 16, 8, 8)
  storage s3 = float32 (1, 4, 4, 8, 8)
  storage s4 = float32 (1, 16, 4, 4)
  storage s5 = float32 (1, 24, 4, 4)
  storage s6 = float32 (1, 48, 4, 4)
  storage s7 = float32 (1, 4, 4, 4, 4)
  storage s8 = float32 (1, 48, 1, 1)
  storage s9 = float32 (1, 48)
  storage s10 = float32 (1, 10)
  check t0 = (Tensor[(1, 3, 32, 32), float32],)
  source "shufflenet_small.onnx"
  code
    check_params t0, []
    plan []
    load_const r1, c0
    load_const r2, c1
    alloc_tensor r3, s0
    call_kernel k0, [r0, r1, r2, r3]
    kill r0
    alloc_tensor r0, s1
    call_kernel k1, [r3, r0]
    load_const r1, c2
    load_const r2, c3
    alloc_tensor r3, s2
    call_kernel k2, [r0, r1, r2, r3]
    alloc_view r1, r3, s3
    alloc_tensor r2, s3
    call_kernel k3, [r1, r2]
    alloc_view r1, r2, s2
    load_const r2, c4
    load_const r3, c5
    alloc_tensor r4, s4
    call_kernel k4, [r1, r2, r3, r4]
    load_const r1, c6
    load_const r2, c7
    alloc_tensor r3, s5
    call_kernel k5, [r4, r1, r2, r3]
    alloc_tensor r1, s5
    call_kernel k6, [r0, r1]
    alloc_tensor r0, s6
    call_kernel k7, [r3, r1, r0]
    alloc_tensor r1, s6
    call_kernel k8, [r0, r1]
    load_const r0, c8
    load_const r2, c9
    alloc_tensor r3, s4
    call_kernel k9, [r1, r0, r2, r3]
    alloc_view r0, r3, s7
    alloc_tensor r2, s7
    call_kernel k10, [r0, r2]
    alloc_view r0, r2, s4
    load_const r2, c10
    load_const r3, c11
    alloc_tensor r4, s4
    call_kernel k11, [r0, r2, r3, r4]
    load_const r0, c12
    load_const r2, c13
    alloc_tensor r3, s6
    call_kernel k12, [r4, r0, r2, r1, r3]
    alloc_tensor r0, s8
    call_kernel k13, [r3, r0]
    alloc_view r1, r0, s9
    load_const r0, c14
    load_const r2, c15
    alloc_tensor r3, s10
    call_kernel k14, [r1, r0, r2, r3]
    new_tensor r0, s10
    call_kernel k15, [r3, r0]
    return r0
}
